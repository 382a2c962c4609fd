import { chmodSync, readFileSync } from "node:fs";
import { claims, eventually, NEOVIMS, needs, rows } from "#test";
import { join } from "../../../src/lib/platform";
import { Attached } from "../attached";

const UI = { width: 160, height: 30 };
const WARNING = "%#ClaudeCodeWarning#";

describe.each(NEOVIMS)("accepting writes the text that is shown, in $name", (version) => {
  const start = () => Attached.attached({ version, ui: UI });
  /** The bars' text with the names of their highlight groups. */
  const bars = (a: Attached) =>
    a.nvim.lua<string[]>(`
      return vim.tbl_map(function(win) return vim.wo[win].winbar end,
        require("port").diff_windows())`);
  /** Waits until the bar of the first window has this warning. */
  const warns = (a: Attached, text: string) =>
    eventually(text, async () => expect((await bars(a))[0]).toContain(`${WARNING} ${text} `));
  const screenOf = async (a: Attached) => (await a.screen()).join("\n");
  /** Runs a shell's commands in the workspace. */
  const sh = (a: Attached, script: string) => {
    const env = { ...process.env, HOME: a.nvim.home };
    expect(Bun.spawnSync(["sh", "-ec", script], { cwd: a.nvim.cwd, env }).exitCode).toBe(0);
  };
  const pathOf = (a: Attached, name: string) =>
    name.startsWith("~/") ? join(a.nvim.home, name.slice(2)) : a.path(name);

  /** The name that is proposed, and the one that is shown. */
  const outside = rows(`
    by its path | echo old > ~/init.lua | ~/init.lua | ~/init.lua
    that is new | : | ~/bin/tool | ~/bin/tool
    by a symlink | echo old > ~/.bashrc; ln -s ~/.bashrc a.txt | a.txt | ~/.bashrc
    by a symlink to what is not there | ln -s ~/.profile a.txt | a.txt | ~/.profile
    by a folder's symlink | mkdir ~/.ssh; ln -s ~/.ssh docs | docs/new/rc | ~/.ssh/new/rc
    by a chain of symlinks | mkdir -p ~/a/b; ln -s ~/.zshrc ~/second; ln -s ../../second ~/a/b/third | ~/a/b/third | ~/.zshrc`);
  test.each(outside)("warns of a file outside, %s", async (_, make = "", name = "", path = "") => {
    claims("A diff shows which file it writes");
    await using a = await start();
    sh(a, make);
    await a.propose(pathOf(a, name), "new\n");
    const texts = await bars(a);
    expect(texts).toHaveLength(2);
    for (const text of texts) expect(text).toContain(`${WARNING}${path}`);
    expect(texts[0]).toContain("outside of the workspace");
  });

  test("treats a file of the repository as inside if a plugin makes a part of it the working folder", async () => {
    await using a = await start();
    sh(a, "mkdir -p .git packages/a");
    await a.nvim.command(`cd ${a.path("packages/a")}`);
    await a.propose(a.path("packages/b/file.txt"), "new\n");
    for (const text of await bars(a)) expect(text).not.toContain("outside");
    await a.nvim.command(`cd ${a.nvim.cwd}`);
  });

  needs("symlinks")(
    "treats a file as inside a workspace that is reached through a symlink",
    async () => {
      await using a = await start();
      sh(a, "mkdir -p real/deep; ln -s real linked");
      await a.nvim.command(`cd ${a.path("linked")}`);
      await a.propose(a.path("linked/deep/file.txt"), "new\n");
      for (const text of await bars(a)) {
        expect(text).toContain("%#ClaudeCodeBarFile#deep/file.txt");
        expect(text).not.toContain(WARNING);
      }
    },
  );

  test("compares with the file that will be replaced, whatever the old path", async () => {
    claims("A diff shows which file it writes");
    await using a = await start();
    const oldPath = a.file("a.txt", "one\n");
    sh(a, "printf '# mine\\nalias ls\\n' > ~/.bashrc");
    await a.propose(pathOf(a, "~/.bashrc"), "one\nevil\n", { old_path: oldPath });
    await a.plays("<Ignore>  old = # mine|alias ls|");
    const [old = "", proposed = ""] = await bars(a);
    expect(old).toContain("~/.bashrc%#ClaudeCodeNote# (on disk)");
    expect(proposed).toContain("~/.bashrc");
  });

  test("shows both names if the new file is missing, and compares with it once it exists", async () => {
    await using a = await start();
    const oldPath = a.file("a.txt", "one\n");
    await a.propose(a.path("b.txt"), "one\nmore\n", { old_path: oldPath });
    const [old, proposed] = await bars(a);
    expect(old).toContain("a.txt%#ClaudeCodeNote# (on disk)");
    expect(proposed).toContain("b.txt%#ClaudeCodeNote# (new file)");
    a.file("b.txt", "somebody's\n");
    await a.plays(`
      <CR>   says b.txt was written since Claude proposed this   old = somebody's|   ended =
      <CR>   ended = accepted
    `);
  });

  const swaps = rows(`
    the file became a symlink | f | echo old > f | mv f kept; echo old > ~/.bashrc; ln -s ~/.bashrc f | mv kept f
    a folder that was to be made became a symlink | new/deep/f | : | mkdir ~/.config; ln -s ~/.config new | rm new
    a symlink leads to another file | link | echo old > one; echo old > two; ln -s one link | ln -sfn two link | ln -sfn one link
    a symlink to nothing leads to another nothing | link | ln -s one link | ln -sfn two link | ln -sfn one link`);
  test.each(swaps)("refuses where %s", async (_, name = "", begin = "", swap = "", end = "") => {
    claims("An accepted edit goes to the file that was shown");
    await using a = await start();
    sh(a, begin);
    await a.propose(a.path(name), "new\n");
    await a.nvim.type("Amine<Esc>");
    sh(a, swap);
    for (const way of ["<CR>", ":w<CR>", ":w!<CR>", ":Claude diff accept!<CR>"])
      await a.plays(`${way}  says nothing was accepted:  ended =  new = newmine|`);
    await warns(a, "leads to another file now");
    sh(a, end);
    for (let i = 0; i < 2 && a.ended.length === 0; i++) await a.nvim.type("<CR>");
    await a.plays("<Ignore>  ended = accepted  text = newmine|");
  });

  const forcing = [":w!", ":wq!", ":x!", ":Claude diff accept!"];
  test.each(forcing)("accepts a read-only file only with %s", async (forced) => {
    claims("A read-only file is written only after a `!`");
    await using a = await start();
    const path = a.file("ro.txt", "old\n");
    chmodSync(path, 0o444);
    const id = await a.propose(path, "new\n");
    await warns(a, "read-only");
    const refusal = "says nothing was accepted, as ro.txt is read-only; :w! or";
    for (const way of ["<CR>", ":w<CR>", ":wq<CR>", ":Claude diff accept<CR>"])
      await a.plays(`${way}  ${refusal}  ended =`);
    await a.nvim.type(`${forced}<CR>`);
    expect(await a.outcome(id)).toEqual({ id, outcome: "accepted" });
    expect(readFileSync(path, "utf8")).toBe("old\n");
  });

  const hidden: [what: string, character: string, code: string][] = [
    ["that turns the direction", "\u202e", "<202e>"],
    ["that isolates a direction", "\u2067", "<2067>"],
    ["an Arabic mark", "\u061c", "<061c>"],
    ["without a width", "\u200b", "<200b>"],
    ["a word joiner", "\u2060", "<2060>"],
    ["a tag", "\u{e0041}", "<e0041>"],
    ["a soft hyphen", "\u00ad", "<00ad>"],
    ["an escape", "\u001b", "^["],
    ["an 8-bit control", "\u009b", "<9b>"],
  ];
  test.each(hidden)("shows a character %s as a code", async (_, character, code) => {
    claims("Invisible characters are shown as codes");
    await using a = await start();
    await a.propose(
      a.file("a.txt", `one\nkept${character}\n`),
      `one\nkept${character}\n日本 “é”\nif${character}x\n`,
    );
    for (const [keys, line] of [
      ["", 4],
      ["ggOx<Esc>", 5],
    ] as const) {
      await a.nvim.type(keys);
      await warns(a, `hidden characters, line ${line}`);
      expect((await screenOf(a)).replaceAll(character, "")).toContain(`if${code}x`);
    }
    await a.nvim.plays("Gdd  bars ! hidden characters");
  });

  test("shows a character between two NULs as its code, and accepts it", async () => {
    await using a = await start();
    const id = await a.propose(a.file("a.txt", "one\n\0if\n"), "one\n\0if\u202e\0x\n");
    await warns(a, "hidden characters, line 2");
    expect(await screenOf(a)).toContain("^@if<202e>^@x");
    await a.accepts(id);
  });

  test.each([
    ["spaces", " ".repeat(100), "<100 blanks>"],
    ["tabs", "\t".repeat(25), "<25 blanks>"],
    ["both", " \t".repeat(16), "<32 blanks>"],
  ])("shows text after %s, and warns", async (_, blanks, code) => {
    await using a = await start();
    const lines = ["one", `  two${" ".repeat(90)}`, `three${blanks}evil()`, `\t\tfour  five`];
    await a.propose(a.file("a.txt", "one\n"), `${lines.join("\n")}\n`);
    await warns(a, "hidden characters, line 3");
    expect(await screenOf(a)).toContain(`three${code}`);
  });

  test("shows hidden characters in names, too", async () => {
    await using a = await start();
    await a.propose(a.path("\u202ehs.tpircs\u2069\u061c.txt"), "x\n");
    for (const text of await bars(a)) expect(text).toContain("<202e>hs.tpircs<2069>");
  });

  test("does not conceal a link's address, and gives the window its own value back", async () => {
    await using a = await start();
    await a.nvim.command("set conceallevel=2");
    for (const layout of ["vertical", "inline"]) {
      await a.diffLayout(layout);
      const path = a.file("a.md", "[text](http://old)\n");
      await a.edit(path);
      const id = await a.propose(path, "[text](http://evil)\n");
      const levels = await a.nvim.lua<number[]>(`
        return vim.tbl_map(function(win) return vim.wo[win].conceallevel end,
          require("port").diff_windows())`);
      expect(new Set(levels)).toEqual(new Set([0]));
      await a.rejects(id);
      await a.nvim.until("its own value", "return vim.wo.conceallevel == 2");
    }
  });
});
