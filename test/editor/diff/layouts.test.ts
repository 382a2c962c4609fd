import { eventually, first, NEOVIMS } from "#test";
import { Attached, type Mark } from "../attached";

const OLD = Array.from({ length: 200 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 100\n", "LINE 100\n").replace("line 150\n", "");
const UI = { width: 143, height: 47 };
/** Diffs have room in place of most windows; room.test.ts tests those that need a tab page. */
const WIDE = { width: 300, height: 90 };
const LAYOUTS = ["vertical", "horizontal", "tab", "inline"] as const;

/** Windows as a user may have them, and the Ex commands that make them. */
const WINDOWS = `
  one window, cursor and scroll in the middle: normal! 150Gzt3l
  four windows of odd sizes: split other.txt | vsplit third.txt | wincmd j | 17split | wincmd t | vertical resize 31 | resize 9 | normal! G
  two windows on the file: split | exe "normal! 77Gzb" | wincmd w | normal! 7G
  the file in another window: vnew | call setline(1, "unnamed")
  the file in no window: edit other.txt
  two tab pages: tabnew third.txt | split
  'nohidden' and unsaved edits: set nohidden | normal! 5Gdd60G
  'bufhidden' is wipe, folds: setlocal bufhidden=wipe | 10,20fold | normal! 32G
  an odd option and manual folds: set foldmethod=manual number winbar=mine | setlocal nowrap | 10,20fold | 30,35fold | normal! 32G
  scrolled sideways and a jump list: set nowrap | exe "normal! 10Gyy40GP99G12G" | edit other.txt | buffer main.txt
  a quickfix list in front: call setqflist([#{filename: "other.txt", lnum: 1, text: "x"}]) | copen 5
  only a terminal: enew | exe "terminal cat" | bwipeout! main.txt
  a terminal beside the file: vsplit | exe "terminal cat" | vertical resize 50
  only a file tree: enew | setlocal buftype=nofile filetype=tree | set winfixwidth
  a float in front: call nvim_open_win(nvim_create_buf(0, 1), 0, #{relative: "editor", row: 2, col: 2, width: 20, height: 3})
  a window pinned to its buffer: set winfixbuf
  another plugin's diff: edit other.txt | diffthis | vert diffsplit third.txt | wincmd b
  another plugin's diff beside the file: split other.txt | diffthis | vert diffsplit third.txt | wincmd b
  a preview and a help window: pedit other.txt | exe "help" | wincmd p
  folds by expression and custom diff options: set foldmethod=indent diffopt+=algorithm:histogram`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/: (.*)/) as [name: string, make: string]);

const isOf = (group: string) => (mark: Mark) => mark.hl_group === group;

/** Old lines and highlights of the inline layout, by row. */
async function drawnIn(a: Attached): Promise<string[]> {
  const marks = (await a.marks("diff.inline")).filter(({ sign_text }) => sign_text === undefined);
  return marks
    .map(({ row, column, end_row, end_col, hl_group, virt_lines }) => {
      if (!hl_group) return `${row} deleted ${virt_lines?.length}`;
      return `${row} ${hl_group}${end_row > row ? "" : ` ${column}-${end_col}`}`;
    })
    .sort();
}

describe.each(NEOVIMS)("$name", (version) => {
  for (const [name, make] of first(5, WINDOWS)) {
    test(`${name}: restores everything after each layout`, async () => {
      await using a = await Attached.opened({ version, ui: WIDE }, OLD);
      for (const other of ["other.txt", "third.txt"]) a.file(other, OLD);
      await a.nvim.command(make);
      await a.nvim.command("redraw");
      const before = await a.picture();
      for (const layout of LAYOUTS) {
        await a.diffLayout(layout);
        for (const key of ["<CR>", "q", "remote"]) {
          const id = await a.proposeAndShow(a.main, NEW);
          const seen = await a.nvim.lua<string>("return vim.api.nvim_buf_get_name(0)");
          expect([layout, seen]).toEqual([layout, `claude-code://${id}/main.txt (proposed)`]);
          if (key === "remote") await a.call("diff_close", { ids: [id] });
          else {
            await a.nvim.type(`]c${key}`);
            await a.outcome(id);
          }
          await a.cleared();
          expect([layout, key, await a.picture()]).toEqual([layout, key, before]);
        }
      }
      expect(await a.nvim.lua("return vim.v.errmsg")).toBe("");
    });
  }

  test("shows the first change among its neighbours, diff after diff", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    await a.configure(`{ diff = { layout = "vertical" } }`);
    for (let i = 0; i < 4; i++) {
      const id = await a.propose(a.main, NEW);
      await a.nvim.command("redraw");
      // The lines above the neighbours are one fold.
      const tops = '{nvim_list_wins()->map(\'[line("w0", v:val), line(".", v:val)]\')}';
      await a.plays(`<Ignore>  ${tops} [[1, 100], [1, 100]]  {foldclosedend(1)} 93`);
      await a.rejects(id);
    }
  });

  test("shows a new file in one window, all of it marked as added", async () => {
    await using a = await Attached.opened({ version, ui: UI }, OLD);
    for (const [layout, tabs] of [
      ["vertical", 1],
      ["tab", 2],
    ] as const) {
      await a.diffLayout(layout);
      const id = await a.propose(a.path("new.txt"), "one\ntwo\n");
      await a.plays(`<Ignore>  {winnr('$')} 1  {tabpagenr('$')} ${tabs}  bar (new file)`);
      const added = (await a.marks("diff.inline")).find(isOf("ClaudeCodeAdd"));
      expect(added).toMatchObject({ row: 0, end_row: 2 });
      await a.rejects(id);
    }
    expect(await a.messages()).not.toContain("shown inline");
  });

  async function inline(text: string, ui = UI): Promise<Attached> {
    const a = await Attached.opened({ version, ui }, text);
    await a.diffLayout("inline");
    return a;
  }

  /** These would also close the file's window, or Neovim; endings.test.ts tests the keys that decide. */
  const leaving = [":bw!<CR>", ":bd!<CR>", ":e other.txt<CR>", ":tabclose<CR>"];
  test.each(leaving)("waits when it is left inline by %s", async (keys) => {
    await using a = await inline(OLD);
    a.file("other.txt", OLD);
    if (keys.includes("tabclose")) await a.nvim.command("tab split");
    const id = await a.propose(a.main, NEW);
    await a.plays(`${keys}  diffs wait 1`);
    await a.reject(id);
    await a.nvim.plays(
      `<Ignore>  {winnr('$')} 1  {&l:winbar} ${""}  {&foldenable} 1  {v:errmsg} ${""}`,
    );
  });

  test("draws deleted lines, additions and changes inline, also while edited", async () => {
    await using a = await inline("gone\tone\nsame\nold word\nend\n", { width: 60, height: 16 });
    const id = await a.propose(a.main, "same\nnew word\nend\nadded\n");
    const screen = async () => (await a.screen()).slice(1, 8).map((row) => row.trim());
    const drawn = [...["- gone    one", "same", "- old word", "+ new word", "end", "+ added", "~"]];
    await eventually("the lines", async () => expect(await screen()).toEqual(drawn));
    const draws = (marks: string) =>
      eventually("the marks", async () => expect((await drawnIn(a)).join(", ")).toBe(marks));
    const changed = (row: number) =>
      `${row} ClaudeCodeAdd, ${row} ClaudeCodeAddText 0-3, ${row} deleted 1`;
    await draws(`0 deleted 1, ${changed(1)}, 3 ClaudeCodeAdd`);
    await a.nvim.type("Goone more<Esc>ggOgone\u0009one<Esc>");
    await draws(`${changed(2)}, 4 ClaudeCodeAdd`);
    await a.barShows("+3 −1");
    await a.nvim.type("<CR>");
    const text = "gone\tone\nsame\nnew word\nend\nadded\none more\n";
    expect((await a.outcome(id)).text).toBe(text);
  });

  /** Diff mode of 0.12 marks the same words with `inline:word` in 'diffopt'. */
  const CHANGED = ["a order needs a name", 'an order needs a name", { field: "name" }'];
  test("marks words of lines that are alike, and none where more than half of a line changed", async () => {
    const old = ["  id: next++,", "  name,", `  fail("${CHANGED[0]}")`];
    const now = ["  id: text(next++),", "  name: name.trim(),", `  fail("${CHANGED[1]})`, "  x()"];
    for (const [layout, namespace] of [
      ["inline", "diff.inline"],
      ["vertical", "changes.sides"],
    ] as const) {
      await using a = await Attached.attached({ version, ui: WIDE });
      await a.diffLayout(layout);
      await a.proposeAndShow(a.file("a.txt", `${old.join("\n")}\n`), `${now.join("\n")}\n`);
      await a.barShows("hunk 1/1");
      const words = (await a.marks(namespace)).filter(isOf("ClaudeCodeAddText"));
      const ranges = words.map(({ row, column, end_col }) => `${row}:${column}-${end_col}`);
      expect([layout, ...ranges]).toEqual([layout, "0:6-11", "0:17-18", "2:8-10", "2:30-49"]);
    }
  });

  test("clears an inline drawing before the diff is shown side by side", async () => {
    await using a = await Attached.attached({ version, ui: WIDE });
    await a.diffLayout("inline");
    await a.proposeAndShow(a.file("a.txt", "one\ntwo\n"), "one\nTWO\n");
    await a.barShows("+1 −1");
    expect(await a.marks("diff.inline")).not.toEqual([]);
    await a.diffLayout("vertical");
    await a.nvim.command("edit other.txt");
    await eventually("the hidden diff", () =>
      a.nvim.lua<boolean>("return require('port').no_diff()"),
    );
    await a.nvim.command("Claude diff");
    await a.shown();
    expect(await a.nvim.lua("return #require('port').diff_windows()")).toBe(2);
    expect(await a.marks("diff.inline")).toEqual([]);
  });

  test("gives deleted text a background, and leaves groups to colour schemes and users", async () => {
    await using a = await Attached.start({ version, ui: UI });
    await a.nvim.command("highlight ClaudeCodeBarKey guifg=#123456");
    await a.attach();
    await a.propose(a.file("main.txt", OLD), NEW);
    const group = (name: string, link: boolean) =>
      a.nvim.lua<{ bg?: number; fg?: number; link?: string }>(
        "local name, link = ... return vim.api.nvim_get_hl(0, { name = name, link = link })",
        `ClaudeCode${name}`,
        link,
      );
    const seen = new Set<number | undefined>();
    for (const value of ["dark", "light"]) {
      await a.nvim.lua("vim.o.background = ...", value);
      for (const name of ["Delete", "DeleteText", "Add", "AddText"])
        seen.add((await group(name, false)).bg);
    }
    expect(seen).not.toContain(undefined);
    expect(seen.size).toBe(8);
    expect(await group("BarKey", true)).toMatchObject({ fg: 0x123456 });
    // A colour scheme's own background takes precedence over ours.
    await a.nvim.command("highlight DiffDelete guibg=#010203 | doautocmd ColorScheme");
    expect(await group("Delete", true)).toEqual({ bg: 0x010203 });
    const maps = "return vim.wo[require('port').diff_windows()[1]].winhighlight";
    expect(await a.nvim.lua(maps)).toContain("DiffAdd:ClaudeCodePlain");
    expect(await a.nvim.lua("return vim.wo.winhighlight")).toContain("DiffAdd:ClaudeCodePlain");
  });
});
