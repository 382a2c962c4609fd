--- Moving the cursor to another window and back to where the user was.
local api = vim.api
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Origin where the user was
---@field win integer
---@field terminal boolean it was in terminal mode

---How soon, and how often, terminal mode is asked for again.
local RETRY_MS, TRIES = 20, 10

---Window that terminal mode is on its way back to, 0 if none: before it is there `mode()` does not say so.
local returning = 0

local function is_returning()
  return api.nvim_get_current_win() == returning
end

---@return claude-code.Origin
function M.origin()
  local terminal = api.nvim_get_mode().mode == "t" or is_returning()
  return { win = api.nvim_get_current_win(), terminal = terminal }
end

---Moves to a window, in normal mode.
---@param win integer
---@param origin claude-code.Origin
function M.take(win, origin)
  returning = 0
  if origin.terminal then
    vim.cmd.stopinsert()
  end
  windows.noautocmd(function()
    api.nvim_set_current_win(win)
  end)
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

---Begins insert or terminal mode in the current window. TODO(0.10): a terminal mode that is about to end also ends
---one that is asked for in the meantime: so once more, until it has begun.
---@param is_due fun(): boolean asked before it is tried again
---@param tries? integer
function M.begin_insert_mode(is_due, tries)
  tries = tries or TRIES
  if api.nvim_get_mode().mode ~= "t" then
    vim.cmd.startinsert()
  end
  timer.once(RETRY_MS, function()
    if tries > 1 and is_due() then
      M.begin_insert_mode(is_due, tries - 1)
    else
      returning = 0
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
    M.begin_insert_mode(function()
      return is_returning() and vim.startswith(api.nvim_get_mode().mode, "n")
    end)
  end
end

return M
