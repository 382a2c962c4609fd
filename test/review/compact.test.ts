import { statSync } from "node:fs";
import { perTest } from "#test";
import { journalPath } from "../../src/review/journal/append";
import { compaction } from "../../src/review/journal/prune";
import { recordsOf } from "../../src/review/journal/read";
import { rewriteJournal } from "../../src/review/journal/rewrite";
import type { Listed } from "../../src/review/service";
import { World } from "./state/world";

const world = perTest(() => new World());

const TEN = Array.from({ length: 10 }, (_, i) => `line ${i}\n`).join("");
const size = () => statSync(journalPath(world.folder)).size;
const later = () => Date.now() + 1_000;
const whole = (name: string) => ({ path: world.path(name) });

/** The list that another Neovim gets, without the hunks' ids, and the base texts. */
async function state(): Promise<unknown[]> {
  const service = world.another();
  const { files, counts } = (await service.answer("list", {})) as Listed;
  const list = [
    counts,
    ...files.map((file) => [file, file.hunks.map((hunk) => ({ ...hunk, id: "" }))]),
  ];
  for (const file of files) Object.assign(file, { hunks: [], version: "" });
  const bases = ["a", "b", "c", "d", "e"].map((name) => service.answer("base", whole(name)));
  return [list, await Promise.all(bases)];
}

async function history(): Promise<void> {
  for (const name of ["a", "b", "c", "d", "e"]) world.write(name, TEN);
  for (let turn = 0; turn < 20; turn++) {
    const session = `S${turn % 3}`;
    const prompt = world.prompt(session);
    for (let i = 0; i < 10; i++) {
      const use = `${turn} ${i}`;
      world.record({ type: "begin", session, prompt, tool: "Bash", use });
      world.claude({}, { session, prompt, tool: "Bash", source: "bash", use });
    }
    const text = TEN.replace(`line ${turn % 10}\n`, `turn ${turn}\n`);
    world.record({ type: "seen", session, use: `${turn}`, path: "a", content: { absent: true } });
    world.claude({ a: text, b: text }, { session, prompt });
    if (turn % 4 === 0) world.write("b", `${text}mine\n`);
    if (turn % 3 === 0) await world.keep([whole("a")]);
    if (turn % 5 === 0) await world.undo([whole("b")]);
    if (turn === 7) world.claude({ c: "gone", d: undefined }, { session, prompt });
    if (turn === 9) await world.keep([whole("b"), whole("c"), whole("d")]);
    world.stop(session);
  }
  world.claude({ e: TEN.replace("line 2\n", "two\n") });
}

test("forgets decided changes, and keeps pending ones", async () => {
  await history();
  const [before, bytes] = [await state(), size()];
  rewriteJournal(world.folder, compaction(later()));
  expect(await state()).toEqual(before);
  expect(size()).toBeLessThan(bytes / 3);
  expect(recordsOf(world.folder, "seen")).toEqual([]);
  const once = size();
  rewriteJournal(world.folder, compaction(later()));
  expect(size()).toBe(once);
  await world.undo([whole("e")]);
  expect(world.read("e")).toBe(TEN);
});

test("keeps the history of a decision of today, one that was taken back, and a moved file", async () => {
  await history();
  const bytes = size();
  rewriteJournal(world.folder, compaction(Date.now() - 60_000));
  expect(size()).toBe(bytes);
  world.claude({ c: "again\n" });
  await world.keep([whole("c")]);
  await world.back();
  const before = await state();
  rewriteJournal(world.folder, compaction(later()));
  expect(await state()).toEqual(before);
});

test("remembers a commit that Claude made", async () => {
  const call = (head: string) =>
    world.record({ type: "change", session: "A", tool: "Bash", source: "bash", files: [], head });
  world.record({ type: "prompt", session: "A", text: "commit", head: "1" });
  call("1");
  call("2");
  call("2");
  world.record({ type: "prompt", session: "B", text: "more", head: "2" });
  rewriteJournal(world.folder, compaction(later()));
  const text = await Bun.file(journalPath(world.folder)).text();
  const heads = text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line).head);
  expect(heads).toEqual(["1", "2"]);
});
