--- Where a diff goes: in the place of the file's window, or on a tab page of its own.
local api = vim.api
local windows = require("claude-code.editor.windows")

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
local LEAST_WIDTH = 91
---Lines of two sides below each other: four, a status line and a bar each.
local LEAST_HEIGHT = 12

---@return boolean does the user want one side above the other?
local function is_below()
  return vim.list_contains(vim.opt.diffopt:get(), "horizontal")
end

---@param layout claude-code.DiffLayout
---@param width integer
---@param height integer
---@return boolean is so much room enough?
local function fits(layout, width, height)
  if layout == "inline" then
    return true
  elseif is_below() then
    return height >= LEAST_HEIGHT
  end
  return width >= LEAST_WIDTH
end

---@param target? integer
---@param except? integer
---@return integer width
---@return integer height
local function room_here(target, except)
  local win = windows.for_file(target, except)
  if win then
    return api.nvim_win_get_width(win), api.nvim_win_get_height(win)
  end
  return windows.room_beside()
end

---@return integer width
---@return integer height
local function room_on_tab()
  -- A line each for tab pages and status.
  return vim.o.columns, vim.o.lines - vim.o.cmdheight - 2
end

---@param layout claude-code.DiffLayout
---@param target? integer
---@param except? integer
---@return boolean nothing but a tab page will do
local function must_be_on_tab(layout, target, except)
  if layout == "tab" then
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
  local on_tab = behind_float or must_be_on_tab(layout, target, except)
  local width, height
  if on_tab then
    width, height = room_on_tab()
  else
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

---A window for one side of the diff, or all of it: of the tab page, or borrowed.
---@param buf integer
---@return integer win
---@return claude-code.BorrowedWindow? borrowed nil if the window is new
function Place:take(buf)
  if not self.on_tab then
    return windows.take(buf, self.target, self.except)
  end
  -- A terminal that leaves too little does not come along.
  local win = require("claude-code.editor.diff.tab").open(buf, function(width, height)
    return fits(self.layout, width, height)
  end)
  return win
end

return M
