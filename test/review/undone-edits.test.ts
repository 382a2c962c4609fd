import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nightly } from "#test";
import { hunk, type Recorded, RecordedHere } from "./recorded";

const undo = (world: Recorded, name: string, more: object = {}) =>
  world.answer("undo", { files: [{ path: world.path(name), ...more }] });

/** A project with an edit of Claude's that the user has undone. */
async function undone(): Promise<Recorded> {
  const world = new RecordedHere({ "a.ts": "1\n" });
  await world.prompt();
  await world.edit("a.ts", "2\n");
  await world.stop();
  await undo(world, "a.ts");
  return world;
}

/** The context that the hook of the next prompt gives Claude, without its first line. */
async function received(world: Recorded, more: object = {}): Promise<string | undefined> {
  const { output, code } = await world.compiled("user-prompt-submit", { prompt: "go on", ...more });
  expect(code).toBe(0);
  const context = (output as { hookSpecificOutput?: { additionalContext: string } } | undefined)
    ?.hookSpecificOutput?.additionalContext;
  if (context === undefined) return undefined;
  expect(context.length).toBeLessThan(10_000);
  const [head = "", ...rest] = context.split("\n");
  expect(head).toContain("Do not make these again unless the user asks");
  return rest.join("\n").trim();
}

test("receives once lines that are gone, and lines that are back", async () => {
  using world = new RecordedHere({ "a.ts": "one\ntwo\nthree\nfour\nfive\n", "b ü.ts": "x\n" });
  await world.prompt();
  await world.edit("a.ts", "one\nTWO ü\nTWO B\nthree\nfive\n");
  await world.edit("b ü.ts", "y\n");
  await world.stop();
  expect(await received(world)).toBeUndefined();
  await world.stop();
  await undo(world, "a.ts");
  expect(await received(world)).toBe(
    ["a.ts", "line 2:", "+two", "-TWO ü", "-TWO B", "line 4:", "+four"].join("\n"),
  );
  expect(await received(world)).toBeUndefined();
  await world.stop();
  await undo(world, "b ü.ts");
  expect(await received(world)).toBe("b ü.ts\nline 1:\n+x\n-y");
});

test("receives that a file is gone, and one back", async () => {
  using world = new RecordedHere({ "gone.ts": "x\n" });
  await world.prompt();
  await world.edit("new.ts", "1\n2\n");
  await world.bash("rm gone.ts", {
    files: [{ filePath: world.path("gone.ts"), hunks: [hunk(1, 1, 0, 0, "-x")], deleted: true }],
  });
  await world.stop();
  await undo(world, "new.ts");
  await undo(world, "gone.ts");
  const text = await received(world);
  expect(text).toContain("new.ts\nthe file is gone");
  expect(text).toContain("gone.ts\nthe file is back");
});

nightly.test("receives only the session's own edits", async () => {
  using world = new RecordedHere({ "a.ts": "1\n2\n3\n4\n5\n" });
  await world.prompt();
  await world.edit("a.ts", "I\n2\n3\n4\n5\n");
  await world.stop();
  await world.edit("a.ts", "I\n2\n3\n4\nV\n", { session_id: "two", prompt_id: "q1" });
  await undo(world, "a.ts");
  expect(await received(world)).toBe("a.ts\nline 1:\n+1\n-I");
  expect(await received(world, { session_id: "two" })).toBe("a.ts\nline 5:\n+5\n-V");
  expect(await received(world, { session_id: "three" })).toBeUndefined();
  expect(await received(world, { session_id: "two" })).toBeUndefined();
});

test("receives nothing of an undo that was taken back, or is not saved yet", async () => {
  using world = new RecordedHere({ "a.ts": "1\n", "b.ts": "1\n" });
  await world.prompt();
  await world.edit("a.ts", "2\n");
  await world.edit("b.ts", "2\n");
  await world.stop();
  await undo(world, "a.ts");
  await world.answer("back", {});
  expect(await received(world)).toBeUndefined();
  await world.stop();
  // In a buffer: the executable gives the edits, and the file stays as it is.
  await undo(world, "b.ts", { text: Buffer.from("2\n").toString("base64") });
  expect(await received(world)).toBeUndefined();
  world.write("b.ts", "1\n");
  expect(await received(world)).toBe("b.ts\nline 1:\n+1\n-2");
});

nightly.test("receives the names of files beyond what the CLI shows", async () => {
  using world = new RecordedHere({ "a.ts": "1\n" });
  await world.prompt();
  const long = Array.from({ length: 2_000 }, (_, i) => `line ${i}\n`).join("");
  await world.edit("a.ts", "2\n");
  world.write("b.ts", "1\n");
  await world.edit("b.ts", long);
  await world.stop();
  await undo(world, "a.ts");
  await undo(world, "b.ts");
  const text = await received(world);
  expect(text).toStartWith("a.ts\nline 1:\n+1\n-2");
  expect(text).toEndWith("And, with too many lines to show: b.ts");
});

test("receives it once by hooks of two installations, also beside damage", async () => {
  using world = await undone();
  world.sh(`printf '{"type":"undo","torn' >> ${world.folder}/journal.jsonl`);
  const both = await Promise.all([received(world), received(world)]);
  expect(both.filter(Boolean)).toEqual(["a.ts\nline 1:\n+1\n-2"]);
});

test("receives nothing of an undo of long ago", async () => {
  using world = await undone();
  const journal = join(world.folder, "journal.jsonl");
  const month = 31 * 24 * 60 * 60_000;
  const aged = readFileSync(journal, "utf8").replace(
    /("at":)(\d+)(?=[^\n]*"type":"undo")/,
    (_whole, name, at) => `${name}${Number(at) - month}`,
  );
  writeFileSync(journal, aged);
  expect(await received(world)).toBeUndefined();
});
