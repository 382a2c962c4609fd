--- How big the window of Claude's terminal is: its share of the screen, what the user made of that;
--- and what the other windows get back when it closes.
local api = vim.api
local placement = require("claude-code.terminal.placement")
local while_open = require("claude-code.terminal.while_open")

local M = {}

--- Cells that the user last gave the window.
---@type table<claude-code.Dimension, integer?>
local chosen = {}

---@param win integer
---@param dimension claude-code.Dimension
---@return integer cells
function M.get(win, dimension)
  return api["nvim_win_get_" .. dimension](win)
end

---@param win integer
---@param dimension claude-code.Dimension
---@param cells integer
function M.set(win, dimension, cells)
  api["nvim_win_set_" .. dimension](win, cells)
end

---@param dimension claude-code.Dimension
---@return integer cells
function M.wanted(dimension)
  return placement.size(dimension, chosen[dimension])
end

---@param tab integer
---@return integer[] windows that do not float
local function normal_windows(tab)
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_config(win).relative == ""
  end, api.nvim_tabpage_list_wins(tab))
end

--- Is it the only window of its tab page? One that is alone has all the room, whatever the user
--- wants. A tab page that is closing is gone already.
---@param win integer
---@return boolean
local function is_alone(win)
  local ok, tab = pcall(api.nvim_win_get_tabpage, win)
  return not ok or not api.nvim_tabpage_is_valid(tab) or #normal_windows(tab) < 2
end

--- Remembers the size that the user gives the window, and fits it to a screen that changes.
---@param win integer
---@param is_terminal fun(win: integer): boolean the window may show something else later
---@param dimension claude-code.Dimension
---@return fun() notice called when the window closes
function M.follow(win, is_terminal, dimension)
  local columns, lines, cells
  local function remember()
    columns, lines, cells = vim.o.columns, vim.o.lines, M.get(win, dimension)
  end
  local function is_same_screen()
    return columns == vim.o.columns and lines == vim.o.lines
  end
  local function has_terminal()
    return is_terminal(win) and placement.allows(dimension) and not is_alone(win)
  end
  local function notice()
    if is_same_screen() and has_terminal() and M.get(win, dimension) ~= cells then
      remember()
      chosen[dimension] = cells
    end
  end
  local function fit()
    local is_here = vim.list_contains(api.nvim_tabpage_list_wins(0), win)
    if is_here and not is_same_screen() and has_terminal() then
      M.set(win, dimension, M.wanted(dimension))
      remember()
    end
  end
  remember()
  -- The windows of other tab pages get their sizes when these are entered.
  for event, callback in pairs({ WinResized = notice, VimResized = fit, TabEnter = fit }) do
    while_open(win, event, callback)
  end
  return notice
end

--- As after a split by hand: with 'equalalways' the other windows share the room that is left.
---@param dimension claude-code.Dimension
function M.equalize_others(dimension)
  local direction = dimension == "width" and "hor" or "ver"
  local before = vim.o.eadirection
  if vim.o.equalalways and (before == "both" or before == direction) then
    -- Setting it makes all equal, in the direction named.
    vim.cmd(("noautocmd set eadirection=%s noequalalways equalalways"):format(direction))
    vim.cmd(("noautocmd set eadirection=%s"):format(before))
  end
end

return M
