import { rmSync } from "node:fs";
import { join } from "node:path";
import { git as run } from "../repository";
import { World } from "./world";

/* git's index, where Claude staged what is undone. */

const TEXT = "1\n2\n3\n4\n5\n6\n7\n";

let world: World;
beforeEach(async () => {
  world = new World();
  await git("init", "-q");
  for (const name of ["a", "other"]) world.write(name, TEXT);
  await git("add", "-A");
  await git("commit", "-q", "-m", "first");
});
afterEach(() => world[Symbol.dispose]());

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
])("undoing %s restores the index, and taking that back, too", async (_, files, from, staged) => {
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
  // What is staged again is not the user's decision.
  await look();
  expect(await world.summary()).not.toEqual([]);
});

test.each(["sha1", "sha256"])(
  "before the first commit, with names of objects by %s",
  async (format) => {
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
  },
);

test("a binary file, and permissions", async () => {
  await git("config", "core.fileMode", "true");
  world.prompt();
  world.claudeChmod("other", 0o644, 0o755);
  await claude({ "b.bin": "\0one", a: "\0two" });
  expect(await status()).toBe("M  a\nA  b.bin\nM  other\n");
  await undoAll();
  expect(await status()).toBe("");
});

test("of a file of which one hunk is undone the index holds the others", async () => {
  world.prompt();
  await claude({ a: "I\n2\n3\n4\n5\n6\nVII\n" });
  world.stop();
  await Bun.sleep(5);
  const { files } = await world.list();
  await world.service.summary();
  const { decision } = await world.undo([
    { path: world.path("a"), hunks: [files[0]?.hunks[0]?.id] },
  ]);
  expect(await git("show", ":a")).toBe("1\n2\n3\n4\n5\n6\nVII\n");
  await world.service.summary();
  await Bun.sleep(5);
  await world.back({ decision });
  expect(await git("show", ":a")).toBe("I\n2\n3\n4\n5\n6\nVII\n");
  await world.service.summary();
  expect(await world.summary()).toEqual(["a changed 1>1@1 1>1@7"]);
});

test("what the user staged before, or without Claude's lines, stays as it is, without a word", async () => {
  world.write("a", "mine\n2\n3\n4\n5\n6\n7\n");
  await git("add", "a");
  world.prompt();
  world.claude({ a: "mine\n2\n3\n4\n5\n6\nVII\n" });
  const { files } = await undoAll();
  expect(await status()).toBe("M  a\n");
  expect(await git("show", ":a")).toBe("mine\n2\n3\n4\n5\n6\n7\n");
  expect(files[0]).not.toHaveProperty("staged");
});

test.each(["an entry that somebody changed since", "an index that is locked"])(
  "%s stays, and the undo says so",
  async (what) => {
    world.prompt();
    await claude({ a: "1\n2\n3\n4\n5\n6\nVII\n" });
    if (what.includes("locked")) world.write(".git/index.lock", "");
    else {
      world.write(".git/other-text", "0\n1\n2\n3\n4\n5\n6\nVII\n");
      const id = (await git("hash-object", "-w", ".git/other-text")).trim();
      await git("update-index", "--cacheinfo", `100644,${id},a`);
    }
    const before = await git("ls-files", "--stage", "a");
    const { files } = await undoAll();
    expect(files).toMatchObject([{ path: world.path("a"), staged: true }]);
    expect(await git("ls-files", "--stage", "a")).toBe(before);
    expect(world.read("a")).toBe(TEXT);
  },
);
