--- The cursor: when something that appears may take it, and how it moves to another window and back.
local api, fn = vim.api, vim.fn
local blocked = require("claude-code.editor.input.blocked")
local keyboard = require("claude-code.editor.input.keyboard")
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Origin where the user was
---@field win integer
---@field terminal boolean it was in terminal mode

---How soon, and how often, terminal mode is asked for again.
local RETRY_MS, TRIES = 20, 10

---Window to which terminal mode is on its way back, or 0: `mode()` does not say so before it is there.
local returning = 0

local function in_terminal()
  return api.nvim_get_mode().mode == "t"
end

---@return integer ms without a key after which the user no longer types
function M.pause_ms()
  -- In terminal mode a prompt is being written, with pauses for thought.
  return keyboard.QUIET_MS * (in_terminal() and 2 or 1)
end

---@return integer ms that are left of that pause
function M.ms_until_idle()
  return math.ceil(math.max(0, M.pause_ms() - keyboard.idle_ms()))
end

local function in_claudes_terminal()
  return vim.b.claude_code_terminal == true
end

---May something that appears change windows and take the cursor? Typing in a terminal counts like insert mode.
---@param asked? boolean the user has asked for it, wherever they are
---@return claude-code.MayChange
function M.may_change(asked)
  local may = blocked.may_change()
  if may ~= "all" then
    return may
  elseif M.ms_until_idle() > 0 then
    return in_terminal() and "no_focus" or "nothing"
  end
  -- Elsewhere (a prompt, a commit message, a list, the help, another terminal) the next key has a meaning of its own.
  local is_file = vim.bo.buftype == "" and vim.bo.bufhidden == "" and not vim.bo.modified
  local may_take_cursor = is_file and not path.is_message(0) or in_claudes_terminal()
  return (asked or may_take_cursor) and "all" or "no_focus"
end

---@return boolean is the cursor in a float? Claude's terminal does not count: it gives way.
function M.is_in_float()
  return windows.is_floating(0) and not in_claudes_terminal()
end

local function is_busy_by_state()
  -- A float with a file is there to stay, as in zen-mode; a diff gets a tab page of its own.
  local is_behind_float = M.is_in_float() and vim.bo.buftype ~= ""
  return is_behind_float or fn.reg_recording() ~= "" or fn.reg_executing() ~= ""
end

---@param in_key? boolean asked while a key of the user's, or a command, is executed
---@return boolean is the next key meant for something that the user does, though in normal mode?
function M.is_busy(in_key)
  -- The mode is "n" in getchar() as well: "S" says that Neovim waits for a key, but not for a command
  -- (measured with 0.10.4 and 0.12.4). It says so as well while a command is executed.
  local waits_for_key = not in_key and api.nvim_get_mode().mode == "n" and fn.state("S") ~= ""
  return waits_for_key or is_busy_by_state()
end

---Calls once, when the user has finished what keeps them busy.
function M.after_busy(callback)
  local events = { "SafeState", "WinEnter", "WinClosed", "RecordingLeave" }
  blocked.on_next(events, callback, function(event)
    -- Anything scheduled leads to the next SafeState.
    return event ~= "SafeState" or not is_busy_by_state()
  end)
end

---@return claude-code.Origin
function M.origin()
  local win = api.nvim_get_current_win()
  return { win = win, terminal = in_terminal() or win == returning }
end

---Moves to a window, in normal mode.
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

---Runs `work`, which works on buffers that no window shows, in a window without a terminal. Neovim shows such a buffer
---in a hidden window as wide as the screen, and takes that for the width of a terminal in the current window until that
---is resized (measured with 0.10.4 and 0.12.4): the CLI draws lines that are cut off.
---@param work fun()
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

---Begins insert or terminal mode in the current window. TODO(0.10): a terminal mode that is about to end also ends
---one that is asked for in the meantime, so ask again until it has begun.
---@param is_due fun(): boolean asked before it is tried again
---@param tries? integer
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

---Returns to the window, the "previous window" and the mode of before. Called with autocommands off.
---@param origin claude-code.Origin
---@param previous integer the window that CTRL-W p led to, or 0
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
