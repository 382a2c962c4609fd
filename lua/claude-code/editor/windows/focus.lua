--- Moving the cursor to another window and back to where the user was.
local api = vim.api
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Origin where the user was
---@field win integer
---@field terminal boolean it was in terminal mode

---Window that terminal mode is on its way back to: until then `mode()` does not say so.
local returning ---@type integer?

---It takes 100 ms at most.
local RETRY_MS, TRIES = 20, 5

---@return claude-code.Origin
function M.origin()
  local win = api.nvim_get_current_win()
  local terminal = api.nvim_get_mode().mode == "t" or returning == win
  return { win = win, terminal = terminal }
end

---@type (fun(): boolean?)[]
local listeners = {}

---Calls `listener` each time the cursor was moved by M.take, which no autocommand reports, until it
---returns true.
---@param listener fun(): boolean?
function M.on_take(listener)
  listeners[#listeners + 1] = listener
end

---Moves to a window, in normal mode.
---@param win integer
---@param origin claude-code.Origin
function M.take(win, origin)
  returning = nil
  if origin.terminal then
    vim.cmd.stopinsert()
  end
  windows.noautocmd(function()
    api.nvim_set_current_win(win)
  end)
  listeners = vim.tbl_filter(function(listener)
    return not listener()
  end, listeners)
end

---Runs `work`, which works on buffers that no window shows, in a window without a terminal. Neovim
---shows such a buffer in a hidden window as wide as the screen. In a terminal it takes that one's width
---for the terminal's, until the window changes its size (measured with 0.10.4 and 0.12.4): the CLI
---draws lines that are cut off.
---@param work fun()
function M.outside_terminal(work)
  local function is_terminal(win)
    return vim.bo[api.nvim_win_get_buf(win)].buftype == "terminal"
  end
  local other = is_terminal(0)
    and vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
      return not is_terminal(win)
    end)
  if other then
    api.nvim_win_call(other, work)
  else
    work()
  end
end

---A terminal mode that is about to end also ends one that is asked for in the meantime, as by a diff that
---was answered as soon as it had the cursor: so once more, until it has begun.
---@param win integer of a terminal
---@param tries integer
local function begin_terminal_mode(win, tries)
  vim.cmd.startinsert()
  timer.once(RETRY_MS, function()
    if returning ~= win then
      return
    end
    local is_there = api.nvim_get_current_win() == win
    if tries > 1 and is_there and vim.startswith(api.nvim_get_mode().mode, "n") then
      begin_terminal_mode(win, tries - 1)
    else
      returning = nil
    end
  end)
end

---Back to the window, the "previous window" and the mode of before. With autocommands off.
---@param origin claude-code.Origin
---@param previous integer the window CTRL-W p led to, 0 if none
function M.give_back(origin, previous)
  if not api.nvim_win_is_valid(origin.win) then
    return
  end
  if previous ~= 0 and api.nvim_win_is_valid(previous) then
    api.nvim_set_current_win(previous)
  end
  api.nvim_set_current_win(origin.win)
  if origin.terminal and vim.bo[api.nvim_win_get_buf(origin.win)].buftype == "terminal" then
    returning = origin.win
    begin_terminal_mode(origin.win, TRIES)
  end
end

return M
