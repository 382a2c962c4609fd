import { chmodSync, lstatSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { needs, nightly, temporaryFolder } from "#test";
import { titled } from "../review/story";
import { given, Trees, tells } from "./tree";

/* A worktree's changes are brought home: checked as a whole, written file by file, reviewed here. */
const LINES = "1\n2\n3\n4\n5\n";
const HOME = "Claude worktree home docs";

test("brings home what is committed, uncommitted and new, unstaged, and undoes it", async () => {
  const files =
    "both=1 2 3 4 5, crlf=1\r 2\r 3, committed=old, dirty=old, gone.sh*=echo, gone=old, mode.sh=echo, " +
    "old-name=moved, picture=\0 1, reverted=old";
  await using trees = await Trees.open(given(files));
  const names = [...Object.keys(given(files)), "new/deep.sh", "new-name", "ignored", ".env"];
  await trees.play(`
    here both=I 2 3 4 5; here commit; there committed=new, reverted=new; there commit
    there both=1 2 3 4 V, crlf=1\r 2\r III, dirty=new, -gone.sh, -gone, ignored=x, mode.sh*=echo
    there new/deep.sh*=new, new-name=moved, -old-name, picture=\0 2, reverted=old, .env=SECRET
    vim edit HERE/dirty`);
  const before = trees.read(...names);
  await trees.play(`
    home: docs is home: changed 12 files here
    is both=I 2 3 4 V, crlf=1\r 2\r III, committed=new, dirty=new, -gone.sh, -gone, mode.sh*=echo
    is -old-name, picture=\0 2, reverted=old, new/deep.sh*=new, new-name=moved, -ignored, .env=SECRET`);
  expect(await trees.neovim.lua("return vim.fn.getline(1, '$')")).toEqual(["new"] as never);
  expect(trees.git("here", "diff", "--cached", "--name-only")).toBe("");
  await trees.play("home: docs is home: nothing is left to change here");
  await trees.undoAll(11, [".env cannot be undone here: it is private: its text was not stored"]);
  rmSync(trees.path("here", ".env"));
  expect(trees.read(...names)).toEqual(before);
  expect(trees.git("here", "status", "--porcelain")).toBe("");
});

test("sees no conflict in line ends that are the same to git", async () => {
  const crlf = (text: string) => text.replaceAll("\n", "\r\n");
  const last = LINES.replace("5", "V");
  await using trees = await Trees.open({ ".gitattributes": "* text=auto\n", a: LINES, b: LINES });
  trees.write("here", { a: crlf(LINES.replace("1", "I")), b: crlf(LINES) });
  trees.write("there", { a: crlf(last), b: last });
  expect(await trees.run(HOME)).toStartWith("docs is home: changed 2 files here");
  expect(trees.read("a", "b")).toEqual([crlf(last.replace("1", "I")), last]);
});

needs("symlinks")(
  "brings nothing home with a conflict; with !, brings everything else, and markers where git can",
  async () => {
    await using trees = await Trees.open({
      ...given("a=old, both=1\r 2\r 3\r, deleted=old, stored.big=old, picture=\0 1, link=file"),
      ".gitattributes": "*.big filter=lfs\n",
    });
    await trees.play(`
    here both=1\r here\r 3\r, -deleted, new=here, picture=\0 2
    there .mcp.json={}, a=new, both=1\r there\r 3\r, deleted=new, new*=there, picture=\0 3
    there stored.big=new, -link`);
    trees.write("there", { "sub/line\nend": "x\n" });
    symlinkSync("/etc/passwd", trees.path("there", "link"));
    const names = ["a", "both", "deleted", "new", "picture", ".mcp.json", "link"];
    const before = trees.read(...names);
    await trees.play("home: nothing is changed: 8 files of docs cannot be merged");
    expect(trees.read(...names)).toEqual(before);
    const stay = (row: number): [string, number, string][] => [
      [".mcp.json", 1, "its name runs or configures something"],
      ["both", row, "both changed the same lines"],
      ["deleted", 1, "docs changed it, and it was deleted here"],
      ["link", 1, "it is, or was, a symlink"],
      ["new", 1, "both added it"],
      ["picture", 1, "both changed it, and git merges only texts"],
      ["stored.big", 1, "a git filter produces its text, as with LFS"],
      ["sub/line\nend", 1, "its name has control characters"],
    ];
    expect(await trees.list()).toEqual(stay(1));
    await trees.play("home!: changed 3 files here");
    expect(trees.read(...names)).toEqual([
      "new\n",
      "1\r\n<<<<<<< here\r\nhere\r\n=======\r\nthere\r\n>>>>>>> docs\r\n3\r\n",
      null,
      { run: "<<<<<<< here\nhere\n=======\nthere\n>>>>>>> docs\n" },
      before[4],
      null,
      "file\n",
    ] as never);
    expect(await trees.list()).toEqual(stay(2));
    await trees.undoAll(3);
    expect(trees.read(...names)).toEqual(before);
  },
);

test("keeps who may read a file here, and opens a new one to no one", async () => {
  const modes = (side: "here" | "there", given: Record<string, number>) => {
    for (const [name, mode] of Object.entries(given)) chmodSync(trees.path(side, name), mode);
  };
  await using trees = await Trees.open({ "secret.yml": "a\n", "run.sh": "a\n", "gone.sh": "a\n" });
  modes("here", { "secret.yml": 0o600, "run.sh": 0o640, "gone.sh": 0o600 });
  const there = { "secret.yml": "b\n", "run.sh": "b\n", "gone.sh": null, open: "b\n", key: "b\n" };
  trees.write("there", there);
  modes("there", { "secret.yml": 0o666, "run.sh": 0o777, open: 0o777, key: 0o600 });
  expect(await trees.run(HOME)).toContain("changed 5 files");
  const modesHere = () =>
    Object.keys(there).map((name) => {
      const stats = lstatSync(trees.path("here", name), { throwIfNoEntry: false });
      return stats && stats.mode & 0o777;
    });
  expect(modesHere()).toEqual([0o600, 0o750, undefined, 0o777 & ~process.umask(), 0o600]);
  await trees.undoAll(5);
  expect(modesHere()).toEqual([0o600, 0o640, 0o600, undefined, undefined]);
});

nightly.test.each(
  titled(`
# brings home only what is new there the second time, and loses no one's edit
  a.txt=1 2 3 4 5, b.txt=1 2 3 4 5, c.sh=echo
  here a.txt=1 here 3 4 5, b.txt=here 2 3 4 5
  there a.txt=1 there 3 4 5, b.txt=1 2 3 4 there, c.sh=x, new.txt=one
  home!: changed 4 files; home!: nothing is left; here a.txt=1 both 3 4 5, c.sh*=x
  there b.txt=1 2 3 4 later, c.sh=y, new.txt=two; home: changed 3 files
  is a.txt=1 both 3 4 5, b.txt=here 2 3 4 later, c.sh*=y, new.txt=two
  here commit; here c.sh*=mine; there c.sh=z, new.txt=three
  home: 1 file of docs cannot be merged; is c.sh*=mine, new.txt=two
# takes back here what is later taken back there, unless it is committed here
  a.txt=1 2 3 4 5, b.txt=old, gone.txt=old
  here a.txt=mine 2 3 4 5; there a.txt=1 2 3 4 V, b.txt=new, -gone.txt, new.txt=x, other.txt=x
  home: changed 5 files; here git add b.txt other.txt; here git commit -qm x
  there a.txt=1 2 3 4 5, b.txt=old, gone.txt=old, -new.txt, -other.txt; home: changed 3 files
  is a.txt=mine 2 3 4 5, b.txt=new, gone.txt=old, -new.txt, other.txt=x; home: nothing is left
# does not let a worktree overwrite what a removed one at its path brought home
  a.txt=old
  there a.txt=first; home: changed 1 file; here git worktree remove --force THERE
  here git worktree add -q -b next THERE main; there a.txt=second
  home: 1 file of docs cannot be merged; is a.txt=first
# brings a detached HEAD home, and nothing without a commit in common
  a.txt=old
  there git checkout -q --detach; there a.txt=new; there commit; home: changed 1 file
  there git checkout -q --orphan alone; home: docs has no commit; there commit
  home: have no commit in common
# deletes nothing here that a sparse checkout lacks, even from a subfolder
  in/a.txt=old, out/a.txt=old, out/b.txt=old
  there in/a.txt=new, out/a.txt=new, -out/b.txt; there commit
  there git sparse-checkout set --cone in; vim cd HERE/in; home: changed 3 files
  is in/a.txt=new, out/a.txt=new, -out/b.txt; undo 3
  is in/a.txt=old, out/a.txt=old, out/b.txt=old
`),
)("%s", (_title, story) => tells(...(story.trim().split(/\n(.*)/s, 2) as [string, string])));

test("names a file with unsaved changes here, and changes nothing", () =>
  tells(
    "a.txt=old, b.txt=old",
    `there a.txt=new, b.txt=new; vim edit HERE/b.txt; vim call setline(1, 'mine')
     home: nothing is changed: write these files, or undo your edits, first: b.txt
     is a.txt=old, b.txt=old`,
  ));

test("updates buffers without unsaved changes: another encoding, a deleted file, a new one", async () => {
  const latin = (byte: number) => new Uint8Array([byte, 10]);
  const files = { gone: "old\n", latin: latin(0xe9), "a.gz": Bun.gzipSync("old\n") };
  await using trees = await Trees.open(files);
  const names = [...Object.keys(files), "new"];
  for (const name of names) await trees.neovim.command(`edit ${trees.path("here", name)}`);
  const there = { gone: null, latin: latin(0xe8), "a.gz": Bun.gzipSync("new\n"), new: "x\n" };
  trees.write("there", there);
  await trees.play("home: changed 4 files");
  const lines = "return vim.tbl_map(function(name) return vim.fn.getbufline(name, 1)[1] end, ...)";
  const paths = names.map((name) => trees.path("here", name));
  expect(await trees.neovim.lua<string[]>(lines, paths)).toEqual(["old", "è", "new", "x"]);
});

needs("symlinks")(
  "does not follow symlinks on either side, and leaves inner repositories there",
  async () => {
    await using trees = await Trees.open({ "deep/a.txt": "old\n", "here/a.txt": "old\n" });
    const outside = temporaryFolder();
    trees.write("there", {
      "deep/a.txt": null,
      "here/a.txt": "new\n",
      "inner/a.txt": "x\n",
      "lib/a.txt": "x\n",
    });
    rmSync(trees.path("there", "deep"), { recursive: true, force: true });
    symlinkSync("/etc", trees.path("there", "deep"));
    trees.git("there", "init", "-q", "inner");
    trees.git("here", "init", "-q", "lib");
    rmSync(trees.path("here", "here"), { recursive: true });
    symlinkSync(outside, trees.path("here", "here"));
    const said = await trees.run("Claude worktree home! docs");
    expect(said).toBe(
      "docs is home: nothing is left to change here; 4 files stay as they are; left there: inner",
    );
    expect((await trees.list()).map(([, , text]) => text)).toEqual([
      "here: it is a folder or a submodule",
      "there: it is behind a symlink",
      "here: it is behind a symlink",
      "here it is in another repository",
    ]);
    expect(readlinkSync(trees.path("here", "here"))).toBe(outside);
    expect([...new Bun.Glob("*").scanSync(outside)]).toEqual([]);
  },
);

test("moves changes that are pending there to the review here", async () => {
  await using trees = await Trees.open({ "a.txt": LINES, "b.txt": LINES, "c.txt": LINES });
  using there = trees.review("there");
  there.prompt("A", "edit them");
  there.claude({ "a.txt": "I\n2\n3\n4\nV\n", "b.txt": "1\n2\nIII\n4\n5\n" });
  there.claude({ "new.txt": "new\n", "c.txt": undefined });
  const { files } = await there.list({ paths: [there.path("a.txt")] });
  await there.keep([{ path: there.path("a.txt"), hunks: [files[0]?.hunks[0]?.id] }]);
  await there.keep([{ path: there.path("b.txt") }]);
  there.write("a.txt", "I\n2\nmine\n4\nV\n");
  expect(await trees.run(HOME)).toContain("changed 4 files here; Claude's changes wait");
  expect(trees.read("a.txt", "b.txt", "c.txt", "new.txt")).toEqual([
    "I\n2\nmine\n4\nV\n",
    "1\n2\nIII\n4\n5\n",
    null,
    "new\n",
  ]);
  expect(await there.another().answer("list", {})).toMatchObject({ files: [] });
  using here = trees.review("here");
  expect(await here.summary()).toEqual([
    "a.txt changed 1>1@5",
    "c.txt deleted 5>0@0",
    "new.txt created 0>1@1",
  ]);
  // Coming home is not a decision that :Claude back undoes.
  const last = await here.service.answer("last", {});
  expect(last).toMatchObject({ paths: [there.path("b.txt")] });
});

needs("symlinks")("an undo does not write through a folder that became a symlink", async () => {
  await using trees = await Trees.open({ "conf/a": "old\n", "conf/gone": "secret\n" });
  const outside = temporaryFolder();
  trees.write("there", { "conf/a": "new\n", "conf/gone": null, "conf/new": "new\n" });
  expect(await trees.run(HOME)).toContain("changed 3 files");
  rmSync(trees.path("here", "conf"), { recursive: true });
  symlinkSync(outside, trees.path("here", "conf"));
  using here = trees.review("here");
  const files = ["conf/a", "conf/gone", "conf/new"].map((name) => ({ path: here.path(name) }));
  await here.undo(files).catch(() => {});
  expect(readdirSync(outside)).toEqual([]);
});
