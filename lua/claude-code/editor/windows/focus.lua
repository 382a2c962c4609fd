--- Decides when something new on screen may take the cursor; moves the cursor to another window and back.
local api, fn = vim.api, vim.fn
local blocked = require("claude-code.editor.input.blocked")
local keyboard = require("claude-code.editor.input.keyboard")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Origin place of the user
---@field win integer
---@field terminal boolean the user was in terminal mode

---Delay between requests for terminal mode, and their number.
local RETRY_MS, TRIES = 20, 10

---Window that is about to return to terminal mode, which `mode()` does not show, or 0.
local returning = 0

local function in_terminal()
  return api.nvim_get_mode().mode == "t"
end

---@return integer ms without a key after which the user counts as not typing
function M.pause_ms()
  -- A user who writes a prompt pauses to think.
  return keyboard.QUIET_MS * (in_terminal() and 2 or 1)
end

---@return integer ms of that pause that are still missing
function M.ms_until_idle()
  return math.ceil(math.max(0, M.pause_ms() - keyboard.idle_ms()))
end

local function in_claudes_terminal()
  return vim.b.claude_code_terminal == true
end

---May something new change windows and take the cursor? Typing in a terminal counts like insert mode.
---@param asked? boolean the user has asked for it
---@return claude-code.MayChange
function M.may_change(asked)
  local may = blocked.may_change()
  if may ~= "all" then
    return may
  elseif M.ms_until_idle() > 0 then
    return in_terminal() and "no_focus" or "nothing"
  end
  -- In a prompt, a commit message, a list, the help, or another terminal, the next key is meant for that.
  local is_file = vim.bo.buftype == "" and vim.bo.bufhidden == "" and not vim.bo.modified
  local may_take_cursor = is_file and not path.is_message(0) or in_claudes_terminal()
  return (asked or may_take_cursor) and "all" or "no_focus"
end

---Is the cursor in a float, other than that of Claude's terminal?
function M.is_in_float()
  return windows.is_floating(0) and not in_claudes_terminal()
end

local function is_busy_by_state()
  -- A float with a file (zen-mode) does not matter: a diff gets its own tab page.
  local is_behind_float = M.is_in_float() and vim.bo.buftype ~= ""
  return is_behind_float or fn.reg_recording() ~= "" or fn.reg_executing() ~= ""
end

---Does the next key belong to something that the user is doing, although Neovim is in normal mode?
---@param in_key? boolean Neovim is executing a key or command of the user
function M.is_busy(in_key)
  -- The mode is also "n" in getchar(). state("S") is set while Neovim waits for a key that is not a command, and while
  -- it executes a command (measured with 0.10.4 and 0.12.4).
  local waits_for_key = not in_key and api.nvim_get_mode().mode == "n" and fn.state("S") ~= ""
  return waits_for_key or is_busy_by_state()
end

---Calls back once, when the user is no longer busy.
function M.after_busy(callback)
  local events = { "SafeState", "WinEnter", "WinClosed", "RecordingLeave" }
  blocked.on_next(events, callback, function(event)
    -- SafeState comes again after each scheduled function.
    return event ~= "SafeState" or not is_busy_by_state()
  end)
end

function M.origin()
  local win = api.nvim_get_current_win()
  return { win = win, terminal = in_terminal() or win == returning }
end

---Moves to a window, in normal mode.
function M.take(win, origin)
  returning = 0
  if origin.terminal then
    vim.cmd.stopinsert()
  end
  windows.noautocmd(function()
    api.nvim_set_current_win(win)
  end)
end

---Runs `work`, which uses buffers without a window, in a window without a terminal. Neovim shows such buffers in a
---hidden window of the screen's width, and would give this width to a terminal in the current window until its next
---resize (measured with 0.10.4 and 0.12.4): the CLI would draw lines that are too long.
function M.outside_terminal(work)
  local function has_terminal(win)
    return vim.bo[api.nvim_win_get_buf(win)].buftype == "terminal"
  end
  local other = has_terminal(0)
    and vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
      return not has_terminal(win)
    end)
  if other then
    api.nvim_win_call(other, work)
  else
    work()
  end
end

---Begins insert or terminal mode in the current window. TODO(0.10): the pending end of an earlier terminal mode cancels
---the request, so try again until the mode has begun.
---@param is_due fun(): boolean decides before each further try
function M.begin_insert_mode(is_due, tries)
  tries = tries or TRIES
  if not in_terminal() then
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

---Restores the window, the "previous window" and the mode. Call it with autocommands off.
---@param previous integer window that CTRL-W p led to, or 0
function M.give_back(origin, previous)
  if not api.nvim_win_is_valid(origin.win) then
    return
  end
  if previous ~= 0 and api.nvim_win_is_valid(previous) then
    api.nvim_set_current_win(previous)
  end
  api.nvim_set_current_win(origin.win)
  if origin.terminal and vim.bo.buftype == "terminal" then
    returning = origin.win
    M.begin_insert_mode(function()
      local is_returning = api.nvim_get_current_win() == returning
      return is_returning and vim.startswith(api.nvim_get_mode().mode, "n")
    end)
  end
end

return M
