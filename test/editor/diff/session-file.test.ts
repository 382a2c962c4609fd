import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, statSync } from "node:fs";
import { eventually } from "../../support/eventually";
import { NEOVIMS, type NeovimVersion, TestNeovim } from "../../support/neovim";
import { Attached } from "../attached";

/* A session file that is written while a diff is on screen, and Neovim stays. */
setDefaultTimeout(60_000);

const UI = { width: 260, height: 47 };
const OLD = Array.from({ length: 60 }, (_, i) => `line ${i + 1}\n`).join("");
const NEW = OLD.replace("line 30\n", "LINE 30\n");
const LAYOUTS = ["vertical", "horizontal", "tab", "inline"];

/** What the session shows when a Neovim without the plugin loads it. */
async function restored(version: NeovimVersion, file: string, cwd: string): Promise<string[][]> {
  await using other = await TestNeovim.start({ version, setup: false, ui: UI, cwd });
  await other.command(`silent! source ${file}`);
  return other.lua<string[][]>(`
    return vim.tbl_map(function(tab)
      return vim.tbl_map(function(win)
        return ("%s %d"):format(vim.fn.fnamemodify(vim.fn.bufname(vim.api.nvim_win_get_buf(win)), ":t"), vim.api.nvim_win_get_cursor(win)[1])
      end, vim.api.nvim_tabpage_list_wins(tab))
    end, vim.api.nvim_list_tabpages())`);
}

/** The first line of each window as it is drawn: of a fold, its first. */
const TOPS = `
  vim.cmd.redraw()
  return vim.tbl_map(function(win)
    return vim.api.nvim_win_call(win, function()
      local top = vim.fn.line("w0")
      return vim.fn.foldclosed(top) == -1 and top or vim.fn.foldclosed(top)
    end)
  end, vim.api.nvim_tabpage_list_wins(0))`;

const USERS = [["a.txt 44", "b.txt 1"]];

describe.each(NEOVIMS)("$name", (version) => {
  async function start(layout = "vertical", make = "") {
    const a = await Attached.start({ version, ui: UI });
    await a.configure(`{ diff = { layout = "${layout}" } }`);
    const path = a.file("a.txt", OLD);
    a.file("b.txt", OLD);
    await a.edit(path);
    await a.nvim.command("set splitright | vsplit b.txt | wincmd p | normal! 44G");
    if (make) await a.nvim.command(make);
    await a.attach();
    return a;
  }

  test.each(LAYOUTS)(
    "typed in the proposal (%s): the user's windows, and nothing moves",
    async (layout) => {
      await using a = await start(layout);
      const before = await a.picture();
      const id = await a.propose(a.path("a.txt"), NEW);
      await a.nvim.type("Amine<CR>more<Esc>0");
      await a.barShows("+2 −1");
      const shown = await a.picture();
      const tops = await a.nvim.lua(TOPS);
      await a.nvim.type(":mksession! S.vim<CR>");
      const after = await a.picture();
      expect(await a.nvim.lua(TOPS)).toEqual(tops);
      const seen = ({ windows, mode, buffers }: typeof before) => ({
        mode,
        buffers,
        windows: windows.map(({ buf, width, height, view }) => {
          const { lnum, col, leftcol } = view as Record<string, number>;
          return { buf, width, height, lnum, col, leftcol };
        }),
      });
      expect(seen(after)).toEqual(seen(shown));
      expect(await a.nvim.lua("return vim.fn.bufname()")).toContain("(proposed)");
      expect(await restored(version, a.path("S.vim"), a.nvim.cwd)).toEqual(USERS);
      // The keys still decide, and what was edited is there.
      await a.nvim.type("<CR>");
      expect((await a.outcome(id)).lines?.slice(29, 31)).toEqual(["LINE 30mine", "more"]);
      await a.cleared();
      expect(await a.picture()).toEqual({ ...before, buffers: expect.anything() });
      expect(await a.nvim.lua("return vim.v.errmsg")).toBe("");
    },
  );

  test("by a plugin while the user is in another window, or another tab page", async () => {
    for (const go of ["wincmd b", "tabnew c.txt"]) {
      await using a = await start();
      await a.propose(a.path("a.txt"), NEW);
      await a.nvim.command(go);
      const shown = await a.picture();
      await a.nvim.lua(`vim.cmd("mksession! S.vim")`);
      expect((await a.picture()).current).toBe(shown.current);
      const shape = ({ layout }: typeof shown) => JSON.stringify(layout).replaceAll(/\d+/g, "");
      expect(shape(await a.picture())).toEqual(shape(shown));
      await a.shown();
      const session = await restored(version, a.path("S.vim"), a.nvim.cwd);
      expect(session[0]).toEqual(USERS[0]);
      expect(session.length).toBe(go.startsWith("tab") ? 2 : 1);
    }
  });

  test("by a plugin while the user types in the proposal: once they have stopped", async () => {
    await using a = await start("tab");
    await a.propose(a.path("a.txt"), NEW);
    await a.nvim.type("Onew");
    await a.nvim.lua(`
      vim.o.sessionoptions = "tabpages,winsize"
      vim.cmd("mksession! S.vim")
      vim.cmd("set sessionoptions&")`);
    await a.nvim.type(" text");
    expect(await a.mode()).toBe("i");
    expect(await a.nvim.lua("return vim.api.nvim_get_current_line()")).toBe("new text");
    await a.nvim.type("<Esc>");
    await eventually("the user's windows", async () =>
      expect(readFileSync(a.path("S.vim"), "utf8")).not.toMatch(/tabnew|tabnext 2/),
    );
    await a.shown();
    expect(await a.nvim.lua("return vim.api.nvim_get_current_line()")).toBe("new text");
    // The options are those of the plugin.
    expect(readFileSync(a.path("S.vim"), "utf8")).not.toContain("\ncd ");
    expect(await a.nvim.lua("return vim.o.sessionoptions")).toContain("buffers");
  });

  test("a view (:mkview) writes no session", async () => {
    await using a = await start();
    await a.nvim.command("mksession! S.vim");
    await a.propose(a.path("a.txt"), NEW);
    const before = statSync(a.path("S.vim")).mtimeMs;
    await a.nvim.command("mkview! V.vim");
    expect(statSync(a.path("S.vim")).mtimeMs).toBe(before);
    rmSync(a.path("S.vim"));
    await a.nvim.command("mkview! V.vim");
    expect(() => statSync(a.path("S.vim"))).toThrow();
  });

  test("from Claude's terminal: terminal mode goes on", async () => {
    await using a = await start();
    await a.nvim.command("botright vsplit | terminal cat");
    await a.nvim.type("i");
    await eventually("terminal mode", async () => (await a.mode()) === "t");
    await a.configure("{ diff = { focus = false } }");
    await a.propose(a.path("a.txt"), NEW);
    await a.shown();
    await a.nvim.lua(`vim.cmd("mksession! S.vim")`);
    await a.nvim.type("abc");
    expect(await a.mode()).toBe("t");
    expect(readFileSync(a.path("S.vim"), "utf8")).not.toContain("claude-code:");
  });
});
