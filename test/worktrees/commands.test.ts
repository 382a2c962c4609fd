import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { eventually, first, nightly } from "#test";
import { dirname, join } from "../../src/lib/platform";
import { Trees, tells } from "./tree";

/* A worktree is found by its name or its session, shown and removed. */
const REMOVE = "Claude worktree remove docs";

test("is removed when nothing is lost, and its branch stays", async () => {
  await using trees = await Trees.open({ "a.txt": "old\n" });
  trees.write("there", { "a.txt": "new\n", "new.txt": "x\n", ignored: "x\n" });
  expect(await trees.run(REMOVE)).toBe("docs is not removed: it has changes (a.txt, new.txt)");
  trees.commit("there");
  expect(await trees.run(REMOVE)).toBe(
    "docs is not removed: no other branch has 1 commit of it, and not everything is home",
  );
  expect(await trees.run("Claude worktree home docs")).toContain("changed 2 files");
  // The user goes on with it here, and a language server was asked about a file there.
  await trees.neovim.lua("vim.fn.bufload(vim.fn.bufadd(...))", trees.path("there", "a.txt"));
  trees.write("here", { "a.txt": "newer\n" });
  expect(await trees.run(REMOVE)).toBe("removed the worktree docs; its branch stays");
  expect(existsSync(trees.folder("there"))).toBe(false);
  expect(trees.git("here", "branch", "--list", "worktree-docs")).toContain("worktree-docs");
});

nightly.test("stays with commits until another branch, or this work tree, has them", () =>
  tells(
    "a.txt=old",
    `there git checkout -q --detach; there a.txt=new; there commit
     remove: no other branch has 1 commit; home: changed 1 file; here a.txt=old
     remove: no other branch has 1 commit; here a.txt=new; remove: removed the worktree docs`,
  ),
);

nightly.test("is removed with a submodule that was never checked out", () =>
  tells(
    "a.txt=old",
    `here git init -q lib; here git -C lib commit -q --allow-empty -m first
     here git submodule --quiet add ./lib lib; here commit; there git reset -q --hard main
     remove: removed the worktree docs`,
  ),
);

const addSession = (trees: Trees, name: string) =>
  trees.neovim.lua(
    "require('port').session_rows.add({ name = ..., cwd = select(2, ...), where = 'here' })",
    name,
    trees.folder("there"),
  );

const JOB = "vim.fn.jobstart({ 'cat' }, { term = true, cwd = ... })";
const USES: [what: string, use: (trees: Trees) => unknown, said: string][] = [
  ["locked", (trees) => trees.git("here", "worktree", "lock", trees.folder("there")), "locked"],
  ["in a buffer", (at) => at.neovim.command(`edit ${at.path("there", "a.txt")}`), "the buffer"],
  ["in a terminal", (trees) => trees.neovim.lua(JOB, trees.folder("there")), "the terminal"],
  ["shown", ({ neovim }) => neovim.command("Claude worktree show docs"), "window 1 of tab page 2"],
  ["with a session", (trees) => addSession(trees, "docs"), "Claude (docs) is in it"],
  [
    "with a submodule",
    (trees) =>
      trees.play(`
        here git init -q lib; here git -C lib commit -q --allow-empty -m first
        there git submodule --quiet add HERE/lib lib; there commit
        here git branch more worktree-docs`),
    "it has changes (lib)",
  ],
];
test.each(first(4, USES))("is not removed where it is %s", async (_what, use, said) => {
  await using trees = await Trees.open({ "a.txt": "old\n" });
  await use(trees);
  const text = await trees.run(REMOVE);
  expect(text).toStartWith("docs is not removed: ");
  expect(text).toContain(said);
  expect(existsSync(trees.path("there", "a.txt"))).toBe(true);
});

test("is shown once, in a tab page with its folder, and comes home from there", async () => {
  await using trees = await Trees.open({ "a.txt": "old\n" });
  const where = "return { vim.fn.tabpagenr(), vim.fn.tabpagenr('$'), vim.fn.getcwd() }";
  const shown = [2, 2, trees.folder("there")];
  await trees.neovim.command("Claude worktree show docs");
  expect(await trees.neovim.lua<unknown[]>(where)).toEqual(shown);
  await trees.neovim.command("tabfirst | Claude worktree show docs");
  expect(await trees.neovim.lua<unknown[]>(where)).toEqual(shown);
  trees.write("there", { "a.txt": "new\n" });
  expect(await trees.run("Claude worktree home")).toContain("changed 1 file");
  expect(trees.read("a.txt")).toEqual(["new\n"]);
});

test("comes home from a folder beside the repository without a tab page", async () => {
  await using trees = await Trees.open({ "a.txt": "old\n" });
  const beside = join(trees.neovim.home, "beside");
  trees.git("there", "worktree", "move", trees.folder("there"), beside);
  writeFileSync(join(beside, "a.txt"), "new\n");
  await trees.neovim.command(`cd ${beside}`);
  expect(await trees.run("Claude worktree home")).toContain("changed 1 file");
  expect(trees.read("a.txt")).toEqual(["new\n"]);
});

nightly.test("comes home in a bare repository to the tab page's worktree alone", async () => {
  await using trees = await Trees.open({ "a.txt": "old\n" });
  const { neovim } = trees;
  trees.git("here", "config", "core.bare", "true");
  trees.write("there", { "a.txt": "new\n" });
  await neovim.command("Claude worktree show docs");
  expect(await trees.run("Claude worktree home")).toContain("is not a work tree");
  const bare = join(neovim.home, "bare.git");
  trees.git("here", "clone", "-q", "--bare", trees.folder("here"), bare);
  const folder = (name: string) => join(neovim.home, name);
  for (const name of ["a", "b", "c"]) {
    trees.git("here", "-C", bare, "worktree", "add", "-q", "-b", name, folder(name), "main");
  }
  writeFileSync(join(folder("b"), "a.txt"), "new\n");
  await neovim.command(`tcd ${folder("b")}`);
  await trees.knows("a");
  expect(await trees.run("Claude worktree home")).toContain("this repository is bare");
  await neovim.command(`tcd ${folder("a")}`);
  await trees.knows("a");
  expect(await trees.run("Claude worktree home b")).toContain("b is home");
  const read = (name: string) => readFileSync(join(folder(name), "a.txt"), "utf8");
  expect(["a", "b", "c"].map(read)).toEqual(["new\n", "new\n", "old\n"]);
});

test("is completed by its name, named by its session, or chosen", async () => {
  await using trees = await Trees.open({ "a.txt": "old\n" });
  const { neovim } = trees;
  await eventually("the names", async () =>
    expect(
      await neovim.lua("return vim.fn.getcompletion('Claude worktree home ', 'cmdline')"),
    ).toEqual(["docs"]),
  );
  expect(await trees.run("Claude worktree home other")).toContain("no worktree other");
  await neovim.lua(
    `_G.asked = {}
    vim.ui.select = function(items, options, choose)
      table.insert(_G.asked, vim.tbl_map(options.format_item, items))
      choose(items[#_G.asked == 1 and 1 or 2])
    end`,
  );
  expect(await trees.run("Claude worktree")).toContain("docs is home");
  expect(await neovim.lua<string[][]>("return _G.asked")).toEqual([
    [expect.stringMatching(/^docs: .*worktrees\/docs$/)],
    ["Show it in a tab page", "Bring home what it changed", "Remove it"],
  ] as never);
  await addSession(trees, "writer");
  expect(await trees.run("Claude worktree home writer")).toContain("docs is home");
  expect(await trees.run("Claude worktree home 1")).toContain("docs is home");
  // The current session's.
  expect(await trees.run("Claude worktree home")).toContain("docs is home");
  await neovim.lua(
    "vim.ui.select = function(items, _, choose) choose(items[#items > 1 and 2 or 1]) end",
  );
  expect(await trees.run("Claude sessions!")).toContain("docs is home");
});

test("is not a folder that only calls itself a worktree", async () => {
  await using trees = await Trees.open({ "a.txt": "old\n" });
  const params = { root: trees.folder("here"), path: dirname(trees.folder("there")) };
  const text = await trees.neovim.lua<string>(
    `local params, said = ..., nil
    require("port").channel.request("worktree/remove", params, function(_, problem) said = problem end)
    vim.wait(10000, function() return said ~= nil end)
    return said`,
    params,
  );
  expect(text).toContain("is not another worktree of");
});
