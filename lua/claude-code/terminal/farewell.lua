--- What is said when the CLI has ended by itself.
local M = {}

---@param code integer
function M.say(code)
  local notify = require("claude-code.messages.notify")
  if code == 0 then
    notify.info("Claude has ended; :ClaudeCode starts it again")
  else
    local text = "Claude ended with code %d; its last words are in its window, :ClaudeCode starts "
      .. "it again"
    notify.warn(text:format(code))
  end
end

return M
