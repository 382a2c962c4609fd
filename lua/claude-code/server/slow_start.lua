--- Reports an executable that runs and does not get ready: one that hangs ends in no error.
local M = {}

--- Usually it takes 0.1 s.
local SLOW_MS = 10 * 1000

---@type fun()?
local cancel

--- Warns, and calls back, in ten seconds, unless over() is called first.
---@param binary claude-code.Binary
---@param callback fun(message: string)
function M.watch(binary, callback)
  M.over()
  cancel = require("claude-code.lib.timer").once(SLOW_MS, function()
    cancel = nil
    local exit_message = require("claude-code.server.exit_message")
    local message = exit_message.not_ready(binary, SLOW_MS / 1000)
    require("claude-code.messages.notify").warn(message)
    callback(message)
  end)
end

--- It is ready, or gone.
function M.over()
  if cancel then
    cancel()
    cancel = nil
  end
end

return M
