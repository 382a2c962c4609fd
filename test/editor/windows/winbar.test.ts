import { NEOVIMS, TestNeovim } from "#test";

/** The text, cut to the room there is, and whose bar a window has. */
describe.each(NEOVIMS)("the bar of a window, in $name", (version) => {
  let nvim: TestNeovim;
  beforeAll(async () => {
    nvim = await TestNeovim.start({ version, setup: false });
  });
  afterAll(() => nvim[Symbol.asyncDispose]());

  const winbar = <T>(code: string, ...args: unknown[]) =>
    nvim.lua<T>(`local winbar = require("claude-code.editor.windows.winbar") ${code}`, ...args);

  test("shows text as it is, whatever it holds", async () => {
    const shown = `
      local bar = winbar.render(winbar.parts("%<", { (...), "Title" }, nil, false, "%=", { "!", "Title" }))
      return vim.api.nvim_eval_statusline(bar, { use_winbar = true, maxwidth = 12 }).str`;
    expect(await winbar<string>(shown, "50%#a")).toBe("50%#a      !");
    expect(await winbar<string>(shown, "a\tb")).toBe("a^Ib       !");
    expect(await winbar<string>(shown, "a\u202eb")).toContain("<202e>");
  });

  test.each([
    ["main.txt", 8, "main.txt", "main.txt"],
    ["main.txt", 5, "….txt", "main…"],
    ["漢字.txt", 6, "….txt", "漢字.…"],
    ["漢字", 3, "…字", "漢…"],
    ["main.txt", 0, "…", "…"],
  ])("%s in %d cells", async (text, cells, tail, head) => {
    const shortened = "local text, cells, keep = ... return winbar.shortened(text, cells, keep)";
    expect(await winbar<string>(shortened, text, cells, "tail")).toBe(tail);
    expect(await winbar<string>(shortened, text, cells, "head")).toBe(head);
  });

  test.each([
    [40, "  ]c [c move  gr undo  <CR> accept"],
    [32, "  ]c [c  gr undo  <CR> accept"],
    [24, "  gr undo  <CR> accept"],
    [20, "  gr  <CR> accept"],
    [3, "  <CR> accept"],
  ])("shows the most important keys and facts in %d cells", async (room, wanted) => {
    const text = await winbar<string>(
      `local parts = winbar.hints({
        { keys = { "]c", "[c" }, words = "move" },
        { keys = {}, words = "that has no key" },
        { keys = { "gr" }, words = "undo", decides = true },
        { keys = { "<CR>" }, words = "accept", is_needed = true, is_fact = true },
      }, ...)
      return vim.iter(parts):fold("", function(text, part) return text .. part[1] end)`,
      room,
    );
    expect(text).toBe(wanted);
  });

  test("gives the window's own bar back, and removes the copy from a split", async () => {
    await nvim.command("setlocal winbar=mine");
    await winbar(`winbar.show(0, "%(%)", "ours")`);
    await nvim.command("split");
    const own = () =>
      nvim.lua<string[]>(`return vim.tbl_map(function(win)
        return vim.api.nvim_get_option_value("winbar", { win = win, scope = "local" })
      end, vim.api.nvim_list_wins())`);
    expect(await own()).toEqual(["%(%)ours", "%(%)ours"]);
    await winbar(
      `vim.iter(vim.api.nvim_list_wins()):each(function(win) winbar.hide(win, "%(%)") end)`,
    );
    expect(await own()).toEqual(["", "mine"]);
  });
});
