--- A tab page for a diff. Claude's terminal comes along if it was visible, and goes with the diff.
local api = vim.api
local focus = require("claude-code.editor.windows.focus")
local options = require("claude-code.editor.windows.options")
local windows = require("claude-code.editor.windows")

---Marks our tab pages.
local MARK = "claude_code_diff"

local M = {}

---@return table module
local function terminal()
  return require("claude-code.terminal.providers.window")
end

---A new tab page for `buf`, entered. With autocommands off.
---@param buf integer
---@param fits? fun(width: integer, height: integer): boolean is so much room beside a terminal enough?
---@return integer win
function M.open(buf, fits)
  local from = api.nvim_get_current_tabpage()
  vim.cmd(("tab sbuffer %d"):format(buf))
  local win = api.nvim_get_current_win()
  options.apply(win, options.global())
  api.nvim_tabpage_set_var(0, MARK, true)
  terminal().mirror_to_tab(from, fits)
  return win
end

---@param tab integer 0: the current one
---@return boolean
function M.is_ours(tab)
  return (pcall(api.nvim_tabpage_get_var, tab, MARK))
end

---Closes a tab page with nothing in it except Claude's terminal. A user who is there goes to the
---terminal where they came from.
---@param tab integer
---@param saved claude-code.SavedLayout
local function close_empty(tab, saved)
  local here = tab == api.nvim_get_current_tabpage() and api.nvim_tabpage_is_valid(saved.tab)
  local typing = api.nvim_get_mode().mode == "t"
  local buf = api.nvim_win_get_buf(api.nvim_tabpage_list_wins(tab)[1])
  if here then
    api.nvim_set_current_tabpage(saved.tab)
  end
  -- It fails for the only one.
  pcall(vim.cmd.tabclose, api.nvim_tabpage_get_number(tab))
  if here then
    terminal().show(buf)
    focus.give_back({ win = api.nvim_get_current_win(), terminal = typing }, saved.previous)
  end
end

---The diff has gone: so does its tab page, unless the user has put something there.
---@param saved claude-code.SavedLayout of the tab page before
function M.close(saved)
  for _, tab in ipairs(vim.tbl_filter(M.is_ours, api.nvim_list_tabpages())) do
    local wins = vim.iter(api.nvim_tabpage_list_wins(tab)):filter(function(win)
      return not windows.is_floating(win)
    end)
    if wins:all(terminal().is_terminal) then
      close_empty(tab, saved)
    else
      api.nvim_tabpage_del_var(tab, MARK)
    end
  end
end

return M
