--- When a diff may be shown, when it may take the focus, and when a key may decide it: not while the user types, or
--- is in the middle of something else.
local api, fn = vim.api, vim.fn
local blocked = require("claude-code.editor.input.blocked")
local clock = require("claude-code.editor.input.clock")
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local places = require("claude-code.editor.diff.place")
local windows = require("claude-code.editor.windows")

---@class claude-code.DecisionGuard
---@field private title string such as "the change of main.lua"
---@field private since number by `clock.now`
---@field private event "appeared"|"was updated"|"got the cursor" what happened then
---@field private is_expected? boolean the user has asked for what it shows
---@field private reported? string the last message, and when the keys that it was about began
local DecisionGuard = {}
DecisionGuard.__index = DecisionGuard

local M = {}

---How many pauses in typing a user needs to see what has appeared: two seconds.
local SEEN_PAUSES = 5

local function in_terminal()
  return api.nvim_get_mode().mode == "t"
end

---@return integer ms without a key after which the user is not in the middle of typing
function M.pause_ms()
  -- In terminal mode a prompt is being written, with pauses for thought.
  return clock.QUIET_MS * (in_terminal() and 2 or 1)
end

---@return integer ms that are left of that pause
function M.ms_until_idle()
  return math.ceil(math.max(0, M.pause_ms() - keyboard.idle_ms()))
end

---Is the user in Claude's terminal, or in an ordinary file without unsaved edits? Anywhere else the next key has a
---meaning of its own: in a prompt, a commit message, a list, the help, a terminal.
local function may_take_cursor()
  local is_file = vim.bo.buftype == "" and vim.bo.bufhidden == "" and not vim.bo.modified
  return is_file and not path.is_message(0)
    or require("claude-code.terminal.providers.window").is_terminal(0)
end

---Returns what showing a diff or a plan may change now. Typing in a terminal counts like insert mode; typing in normal
---mode does not leave its window.
---@param asked? boolean the user has asked for it, wherever they are
---@return claude-code.MayChange
function M.may_change(asked)
  local may = blocked.may_change()
  if may ~= "all" then
    return may
  elseif M.ms_until_idle() == 0 then
    return (asked or may_take_cursor()) and "all" or "no_focus"
  end
  return in_terminal() and "no_focus" or "nothing"
end

---May a diff be shown now? A user who types keeps the window they type in: a tab page cannot be made without
---leaving it.
---@param file string absolute path that is proposed
---@param asked? boolean the user has asked for it
---@return boolean
function M.can_show(file, asked)
  local may = M.may_change(asked)
  if may ~= "no_focus" then
    return may == "all"
  elseif windows.is_floating(0) and not in_terminal() then
    -- A picker's prompt, most likely: it is about to open a file in the window behind it.
    return false
  end
  local here, layout = api.nvim_get_current_win(), require("claude-code.config").get().diff.layout
  return windows.for_file(nil, here) ~= nil
    and not windows.has_diff()
    and not places.needs_tab(layout, path.loaded_buffer(file), here)
end

---Has a floating window the focus, other than Claude's terminal, which gives way to a diff?
---@return boolean
function M.is_in_float()
  return windows.is_floating(0)
    and not require("claude-code.terminal.providers.window").is_terminal(0)
end

local function is_busy_by_state()
  -- A float with a file is there to stay, as in zen-mode; the diff gets a tab page of its own.
  local is_behind_float = M.is_in_float() and vim.bo.buftype ~= ""
  return is_behind_float or fn.reg_recording() ~= "" or fn.reg_executing() ~= ""
end

---Is the user in the middle of something though Neovim is in normal mode? The next key is for that, and must not
---answer a diff that appears just now.
---@param in_key? boolean asked while a key of the user's, or a command, is executed
---@return boolean
function M.is_busy(in_key)
  -- The mode is "n" in getchar() as well: "S" says that Neovim waits for a key, but not for a command
  -- (measured with 0.10.4 and 0.12.4). It says so as well while a command is executed.
  local waits_for_key = not in_key and api.nvim_get_mode().mode == "n" and fn.state("S") ~= ""
  return waits_for_key or is_busy_by_state()
end

---Calls once, when what the user was in the middle of has ended.
---@param callback fun()
function M.after_busy(callback)
  local events = { "SafeState", "WinEnter", "WinClosed", "RecordingLeave" }
  blocked.on_next(events, callback, function(event)
    -- Only then is anything scheduled: that itself leads to the next SafeState.
    return event ~= "SafeState" or not is_busy_by_state()
  end)
end

---No key that may have been typed for something else decides what has the cursor without the user's doing: the user
---has had the time to see it before they began to type, or has typed something else in it before.
---@param title string
---@param asked? boolean the user has asked for it
---@return claude-code.DecisionGuard
function M.guard(title, asked)
  local guard = setmetatable({ title = title }, DecisionGuard)
  guard:restart("appeared", asked)
  return guard
end

---It has got the cursor just now, or shows something new.
---@param event "appeared"|"was updated"|"got the cursor"
---@param asked? boolean
function DecisionGuard:restart(event, asked)
  self.since, self.event, self.is_expected = clock.now(), event, asked
end

---Restarts where the cursor comes into it because the window that had it was closed.
---@param events claude-code.Autocommands
---@param is_inside fun(): boolean
function DecisionGuard:follow(events, is_inside)
  local closed = -math.huge
  events:on({ "WinClosed", "WinEnter" }, function(_, args)
    if args.event == "WinEnter" then
      -- No key was typed since.
      if clock.now() - closed <= keyboard.idle_ms() and is_inside() then
        self:restart("got the cursor")
      end
    elseif tonumber(args.match) == api.nvim_get_current_win() then
      closed = clock.now()
    end
  end)
end

---Must the keys that decide do nothing yet? Those that are typed without a pause are one to the guard.
---@return boolean
function DecisionGuard:is_active()
  if self.is_expected then
    return clock.now() - self.since < clock.QUIET_MS
  end
  local began, before = keyboard.last_burst()
  local pauses = before > self.since and 2 or SEEN_PAUSES
  return began - self.since < pauses * clock.QUIET_MS
end

---Says why nothing was decided; the same only once for keys that are typed without a pause.
---@param again string what to do then
function DecisionGuard:report(again)
  local reported = again .. keyboard.last_burst()
  if self.reported ~= reported then
    self.reported = reported
    notify.info(("%s: %s %s just now"):format(again, self.title, self.event), "diff")
  end
end

---What a key does, unless it was typed for something else.
---@param key string
---@param decide fun()
function DecisionGuard:decide(key, decide)
  if self:is_active() then
    self:report(("press %s again, it decided nothing"):format(key))
  else
    if self.reported then
      api.nvim_echo({}, false, {})
    end
    decide()
  end
end

return M
