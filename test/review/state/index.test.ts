import { rmSync } from "node:fs";
import { join } from "node:path";
import { perTest } from "#test";
import { git as run } from "../repository";
import { play, stories, textOf } from "../story";
import { World } from "./world";

/* git's index, where Claude staged what is undone. */

const SEVEN = "1 2 3 4 5 6 7";
const EDITS = "I 2 3 4 5 6 VII";
const TEXT = textOf(SEVEN);
const world = perTest(() => new World());
beforeEach(async () => {
  await play(world, `repository a=${SEVEN}, other=${SEVEN}`);
});

const git = (...args: string[]) => run(world.root, ...args);
const status = () => git("status", "--porcelain", "--untracked-files=all");

/** Claude changes files, and a command of its stages that. */
async function claude(files: Record<string, string | undefined>, from = {}): Promise<void> {
  const use = crypto.randomUUID();
  world.record({ type: "begin", session: "A", tool: "Bash", use });
  world.claude(files, { tool: "Bash", source: "bash", use, from });
  await git("add", "-A");
}

async function undoAll() {
  const { files } = await world.list();
  return world.undo(files.map(({ path }) => ({ path })));
}

test.each([
  ["git mv", { a: undefined, b: TEXT }, { b: "a" }, "R  a -> b\n"],
  ["git rm", { a: undefined }, {}, "D  a\n"],
  ["git add of an edited file", { a: "1\n2\n3\n4\n5\n6\nVII\n" }, {}, "M  a\n"],
  ["git add of a new file", { "new ü.txt": "new\n" }, {}, 'A  "new \\303\\274.txt"\n'],
  ["git add of an empty file", { empty: "" }, {}, "A  empty\n"],
])("is restored when %s is undone, and when that is taken back", async (_, files, from, staged) => {
  world.prompt();
  await claude(files, from);
  world.stop();
  const before = await git("ls-files", "--stage");
  expect(await status()).toBe(staged);
  await Bun.sleep(5);
  const others = world.another();
  const look = () => Promise.all([world.service, others].map((service) => service.summary()));
  await look();
  const { decision, files: undone } = await undoAll();
  await look();
  expect(await status()).toBe("");
  expect(undone.filter((file) => "staged" in file)).toEqual([]);
  await world.back({ decision });
  expect(await git("ls-files", "--stage")).toBe(before);
  // Staging an entry again is not a decision of the user's.
  await look();
  expect(await world.summary()).not.toEqual([]);
});

test.each(["sha1", "sha256"])("is restored before a commit, with objects by %s", async (format) => {
  rmSync(join(world.root, ".git"), { recursive: true });
  await git("init", "-q", `--object-format=${format}`);
  world.prompt();
  await claude({ new: "new\n" });
  world.stop();
  const before = await git("ls-files", "--stage", "--", "new");
  expect(before).not.toBe("");
  const { decision } = await undoAll();
  expect(await status()).toBe("A  a\nA  other\n");
  await world.back({ decision });
  expect(await git("ls-files", "--stage", "--", "new")).toBe(before);
});

test("is restored for a binary file, and permissions", async () => {
  await git("config", "core.fileMode", "true");
  world.prompt();
  world.claudeChmod("other", 0o644, 0o755);
  await claude({ "b.bin": "\0one", a: "\0two" });
  expect(await status()).toBe("M  a\nA  b.bin\nM  other\n");
  await undoAll();
  expect(await status()).toBe("");
});

stories(
  `repository a=${SEVEN}, other=${SEVEN}`,
  `
# holds the other hunks of a file of which one is undone
  prompt; A git a=${EDITS}; stop; later; is a changed 1>1@1 1>1@7; undo a#1
  git show :a => 1|2|3|4|5|6|VII; is a changed 1>1@7; later; back
  git show :a => I|2|3|4|5|6|VII; is a changed 1>1@1 1>1@7
# stays where the user staged before, or without Claude's lines
  user a=mine 2 3 4 5 6 7; git add a; prompt; A a=mine 2 3 4 5 6 VII; undo a
  git status --porcelain => M  a; git show :a => mine|2|3|4|5|6|7
# stays where it is locked, and the undo says so
  prompt; A git a=${EDITS}; user .git/index.lock=; undo a: it stays in the index
  git show :a => I|2|3|4|5|6|VII; disk a=${SEVEN}
# stays where somebody has changed an entry since, and the undo says so
  prompt; A git a=${EDITS}; user a=0 ${EDITS}; git add a; user a=${EDITS}
  undo a: it stays in the index; git show :a => 0|I|2|3|4|5|6|VII; disk a=${SEVEN}
`,
);
