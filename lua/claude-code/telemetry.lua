--- What clients may count, for those who switch the option log_events on (spec 03, 5.4).
local M = {}

--- A command of ours has run.
---@param name string
function M.ran(name)
  if require("claude-code.config").get().log_events then
    require("claude-code.editor").log_event("run_claude_command", { command = name })
  end
end

return M
