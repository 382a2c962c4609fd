--- Keeps a key that was typed for something else from deciding a diff or a plan that has just appeared: the user must
--- have had time to see it before they began to type, or have typed something else in it.
local api = vim.api
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")

---How many pauses in typing a user needs to see what has appeared: two seconds.
local SEEN_PAUSES = 5

---@alias claude-code.GuardEvent "appeared"|"was updated"|"got the cursor"

---@class claude-code.DecisionGuard
---@field private title string such as "the change of main.lua"
---@field private since number by `keyboard.now`
---@field private event claude-code.GuardEvent what happened then
---@field private is_expected? boolean the user has asked for it
---@field private reported? string the last message, and when the keys that it was about began
local Guard = {}
Guard.__index = Guard

local M = {}

---@param title string
---@param asked? boolean the user has asked for it
---@return claude-code.DecisionGuard
function M.new(title, asked)
  local guard = setmetatable({ title = title }, Guard)
  guard:restart("appeared", asked)
  return guard
end

---@param event claude-code.GuardEvent
---@param asked? boolean
function Guard:restart(event, asked)
  self.since, self.event, self.is_expected = keyboard.now(), event, asked
end

---Restarts when the cursor comes into it because the window that had it was closed.
---@param events claude-code.Autocommands
---@param is_inside fun(): boolean
function Guard:follow(events, is_inside)
  local closed = -math.huge
  events:on({ "WinClosed", "WinEnter" }, function(_, args)
    if args.event == "WinEnter" then
      local was_typed = keyboard.now() - closed > keyboard.idle_ms()
      if not was_typed and is_inside() then
        self:restart("got the cursor")
      end
    elseif tonumber(args.match) == api.nvim_get_current_win() then
      closed = keyboard.now()
    end
  end)
end

---Must keys not decide yet? The guard takes keys without a pause between them as one.
---@return boolean
function Guard:is_active()
  if self.is_expected then
    return keyboard.now() - self.since < keyboard.QUIET_MS
  end
  local began, before = keyboard.last_burst()
  local pauses = before > self.since and 2 or SEEN_PAUSES
  return began - self.since < pauses * keyboard.QUIET_MS
end

---Says why nothing was decided, once for keys that are typed without a pause.
---@param again string what to do then
function Guard:report(again)
  local reported = again .. keyboard.last_burst()
  if self.reported ~= reported then
    self.reported = reported
    notify.info(("%s: %s %s just now"):format(again, self.title, self.event), "diff")
  end
end

---@param key string
---@param decide fun() called unless the key may have been typed for something else
function Guard:decide(key, decide)
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
