--- Where a diff goes: in the place of the file's window, or on a tab page of its own, to which Claude's terminal
--- comes along if it was visible.
local api = vim.api
local focus = require("claude-code.editor.windows.focus")
local windows = require("claude-code.editor.windows")

---Tags our tab pages.
local TAG = "claude_code_diff"

---@class claude-code.DiffPlace
---@field fits boolean is there room for the layout?
---@field is_below boolean the proposal goes below the file, not beside it
---@field private on_tab boolean
---@field private layout claude-code.DiffLayout
---@field private target? integer buffer of the file
---@field private except? integer window that must not change
local Place = {}
Place.__index = Place

local M = {}

---Columns of two sides beside each other, 45 each: with less a side shows too little of a change.
local MIN_WIDTH = 91
---Lines of two sides below each other: four, a status line and a bar each.
local MIN_HEIGHT = 12

---Columns and lines of a window in which a diff can be read at all. In a smaller one it is on a tab page.
local MIN_INLINE = { width = 40, height = 5 }

---Does the user want one side above the other?
local function is_below()
  return vim.list_contains(vim.opt.diffopt:get(), "horizontal")
end

---@param layout claude-code.DiffLayout
---@return boolean is so much room enough?
local function fits(layout, width, height)
  if layout == "inline" then
    return true
  elseif is_below() then
    return height >= MIN_HEIGHT
  end
  return width >= MIN_WIDTH
end

---@return integer width
---@return integer height
local function room_here(target, except)
  local win = windows.for_file(target, except)
  if win then
    return api.nvim_win_get_width(win), api.nvim_win_get_height(win)
  end
  return windows.room_beside()
end

---Must a diff have a tab page of its own?
---@param layout claude-code.DiffLayout
---@param target? integer buffer of the file
---@param except? integer window that must not change
---@return boolean
function M.needs_tab(layout, target, except)
  local width, height = room_here(target, except)
  if layout == "tab" or width < MIN_INLINE.width or height < MIN_INLINE.height then
    return true
  elseif not windows.has_diff() then
    return false
  end
  -- All windows in diff mode of a tab page are compared with each other.
  return layout ~= "inline" or not windows.for_file(target, except)
end

---@param layout claude-code.DiffLayout
---@param target? integer buffer of the file
---@param except? integer window that must not change, as the user types there
---@param behind_float boolean in this tab page nothing can be seen of it
---@return claude-code.DiffPlace
function M.choose(layout, target, except, behind_float)
  local on_tab = behind_float or M.needs_tab(layout, target, except)
  -- A line each for tab pages and status.
  local width, height = vim.o.columns, vim.o.lines - vim.o.cmdheight - 2
  if not on_tab then
    width, height = room_here(target, except)
  end
  return setmetatable({
    fits = fits(layout, width, height),
    is_below = is_below(),
    on_tab = on_tab,
    layout = layout,
    target = target,
    except = except,
  }, Place)
end

---@return table module
local function terminal()
  return require("claude-code.terminal.providers.window")
end

---A new tab page for `buf`, entered. With autocommands off.
---@param is_enough fun(width: integer, height: integer): boolean so much room beside a terminal
---@return integer win
local function open_tab(buf, is_enough)
  local from = api.nvim_get_current_tabpage()
  vim.cmd.sbuffer({ count = buf, mods = { tab = vim.fn.tabpagenr() } })
  local win = api.nvim_get_current_win()
  windows.set_options(win, windows.new_options())
  api.nvim_tabpage_set_var(0, TAG, true)
  terminal().mirror_to_tab(from, is_enough)
  return win
end

---A window for one side of the diff, or all of it: of the tab page, or borrowed.
---@param buf integer
---@return integer win
---@return claude-code.BorrowedWindow? borrowed nil if the window is new
function Place:take(buf)
  local file_win = not self.on_tab and windows.for_file(self.target, self.except)
  if file_win then
    terminal().yield_to(file_win)
    return file_win, windows.borrow(file_win, buf)
  elseif not self.on_tab then
    return windows.beside(buf)
  end
  -- A terminal that leaves too little does not come along.
  local win = open_tab(buf, function(width, height)
    return fits(self.layout, width, height)
  end)
  terminal().yield_to(win, win)
  return win
end

---Are two sides that were given room beside each other narrower than promised by now?
---@param width integer of both
---@return boolean
function Place:is_cramped(width)
  return not self.on_tab and not self.is_below and width < MIN_WIDTH
end

---Closes a tab page with nothing in it except Claude's terminal. A user who is there goes to the
---terminal where they came from.
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
function M.give_back(saved)
  terminal().take_back()
  local ours = vim.tbl_filter(function(tab)
    return vim.t[tab][TAG]
  end, api.nvim_list_tabpages())
  for _, tab in ipairs(ours) do
    local wins = vim.iter(api.nvim_tabpage_list_wins(tab)):filter(function(win)
      return not windows.is_floating(win)
    end)
    if wins:all(terminal().is_terminal) then
      close_empty(tab, saved)
    else
      api.nvim_tabpage_del_var(tab, TAG)
    end
  end
end

return M
