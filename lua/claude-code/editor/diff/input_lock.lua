--- A diff that has just appeared is deaf: whoever was typing had no chance to see it, so their keys
--- were meant for something else. It listens once the keyboard was quiet for `diff.quiet_ms`.
local keyboard = require("claude-code.editor.input.keyboard")
local keys = require("claude-code.editor.diff.keys")
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")
local guard = require("claude-code.editor.input.guard")

---@class claude-code.Deafness of a diff
---@field listen fun() attaches its keys
---@field cancel fun()
---@field told? boolean the person was told why their keys do nothing

local M = {}

---@return integer ms, 0 if diffs listen at once
function M.period()
  return require("claude-code.config").get().diff.quiet_ms
end

---@param session claude-code.Diff
local function tell(session)
  if session.deaf and not session.deaf.told then
    session.deaf.told = true
    local base = path.base(session.new_path)
    notify.info(("the change of %s only just appeared: its keys count once you pause"):format(base))
  end
end

---@param session claude-code.Diff
local function swallow(session)
  for _, buf in ipairs({ session.old_buf, session.new_buf }) do
    guard.block(buf, function()
      tell(session)
    end)
  end
end

---@param session claude-code.Diff
local function release(session)
  guard.unblock(session.old_buf)
  guard.unblock(session.new_buf)
end

---Makes a diff deaf for a while.
---@param session claude-code.Diff
---@param listen fun() attaches its keys
function M.hush(session, listen)
  M.stop(session)
  local period = M.period()
  session.deaf = { listen = listen, cancel = function() end }
  if period == 0 then
    return M.wake(session)
  end
  keys.detach(session)
  swallow(session)
  vim.bo[session.new_buf].modifiable = false
  session.deaf.cancel = keyboard.after_idle(period, function()
    M.wake(session)
  end)
end

---Does it hear nothing yet?
---@param session claude-code.Diff
---@return boolean
function M.is_deaf(session)
  return session.deaf ~= nil
end

---Lets a diff listen from now on.
---@param session claude-code.Diff
function M.wake(session)
  local deaf = session.deaf
  if not deaf then
    return
  end
  deaf.cancel()
  session.deaf = nil
  if session:is_prepared() then
    release(session)
    vim.bo[session.new_buf].modifiable = true
    deaf.listen()
  end
end

---It is leaving the screen: nothing will wake it up.
---@param session claude-code.Diff
function M.stop(session)
  if session.deaf then
    session.deaf.cancel()
  end
end

return M
