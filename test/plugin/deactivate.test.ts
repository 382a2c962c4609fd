import { World } from "#review";
import { NEWEST, TestNeovim } from "#test";

const LEFT = `
  vim.wait(1500, function() return false end)
  local namespaces = vim.tbl_filter(function(name)
    local id = vim.api.nvim_get_namespaces()[name]
    return name:find("^claude%-code") and #vim.api.nvim_buf_get_extmarks(0, id, 0, -1, {}) > 0
  end, vim.tbl_keys(vim.api.nvim_get_namespaces()))
  return {
    keys = #vim.api.nvim_buf_get_keymap(0, "n"),
    marks = namespaces,
    groups = vim.fn.getcompletion("claude-code.", "augroup"),
    windows = #vim.api.nvim_list_wins(),
    winbar = vim.wo.winbar,
    modules = vim.tbl_filter(function(name) return name:find("^claude%-code") end, vim.tbl_keys(package.loaded)),
  }`;

test("ends a review with deactivate(), and leaves no key, mark, autocommand or module", async () => {
  await using neovim = await TestNeovim.start({ version: NEWEST, ui: { width: 80, height: 24 } });
  using world = new World(neovim.cwd, neovim.home);
  world.edited("a", "one\n", "two\n");
  await neovim.until("ready", `return require("claude-code").status().state == "ready"`);
  await neovim.plays(`
    :Claude review   a:1   windows a quickfix
  `);
  await neovim.lua(`require("claude-code").sessions() require("claude-code").deactivate()`);
  expect(await neovim.lua<object>(LEFT)).toEqual({
    keys: 0,
    marks: [],
    groups: [],
    windows: 1,
    winbar: "",
    modules: [],
  });
});
