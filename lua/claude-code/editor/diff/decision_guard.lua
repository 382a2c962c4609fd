--- A diff that has just got the focus is not decided yet by a key: it was typed for something else.
local clock = require("claude-code.editor.input.clock")
local notify = require("claude-code.messages.notify")

---@class claude-code.DecisionGuard
---@field private title string of the file
---@field private since number by `clock.now`
---@field private event "appeared"|"was updated" what happened then
---@field private reported boolean
local DecisionGuard = {}
DecisionGuard.__index = DecisionGuard

local M = {}

---@return integer ms, 0 if diffs are decided at once
function M.period()
  return require("claude-code.config").get().diff.quiet_ms
end

---@param title string
---@return claude-code.DecisionGuard
function M.new(title)
  local guard = setmetatable({ title = title }, DecisionGuard)
  guard:restart("appeared")
  return guard
end

---The diff has got the focus just now, or shows something new.
---@param event "appeared"|"was updated"
function DecisionGuard:restart(event)
  self.since, self.event, self.reported = clock.now(), event, false
end

---Must keys that decide do nothing yet?
---@return boolean
function DecisionGuard:is_active()
  return clock.now() - self.since < M.period()
end

---Says why nothing was decided, once.
---@param again string what to do then
function DecisionGuard:report(again)
  if not self.reported then
    self.reported = true
    notify.info(("the change of %s %s just now: %s"):format(self.title, self.event, again), "diff")
  end
end

---What a key does, unless it was typed for something else.
---@param key string
---@param decide fun()
function DecisionGuard:decide(key, decide)
  if self:is_active() then
    self:report(("press %s again"):format(key))
  else
    decide()
  end
end

return M
