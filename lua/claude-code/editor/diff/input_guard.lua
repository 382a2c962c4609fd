--- A diff that has just got the focus is not decided yet by a key: it was typed for something else.
local clock = require("claude-code.editor.input.clock")
local notify = require("claude-code.messages.notify")

---@class claude-code.InputGuard
---@field private base string the file's name
---@field private since number when the diff got the focus, by `clock.now`
---@field private reported boolean
local InputGuard = {}
InputGuard.__index = InputGuard

local M = {}

---@return integer ms, 0 if diffs are decided at once
function M.period()
  return require("claude-code.config").get().diff.quiet_ms
end

---@param base string
---@return claude-code.InputGuard
function M.new(base)
  local guard = setmetatable({ base = base }, InputGuard)
  guard:restart()
  return guard
end

---The diff has got the focus just now, or shows something new.
function InputGuard:restart()
  self.since, self.reported = clock.now(), false
end

---Must keys that decide do nothing yet?
---@return boolean
function InputGuard:is_active()
  return clock.now() - self.since < M.period()
end

---Says why nothing was decided, once.
---@param again string what to do then
function InputGuard:report(again)
  if not self.reported then
    self.reported = true
    notify.info(("the change of %s only just appeared: %s"):format(self.base, again))
  end
end

---@param key string
---@param decide fun()
---@return fun() run what the key does
function InputGuard:wrap(key, decide)
  return function()
    if self:is_active() then
      self:report(("press %s again"):format(key))
    else
      decide()
    end
  end
end

return M
