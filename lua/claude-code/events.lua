--- What happens, as `User` autocommands for the user's own configuration:
---
---   pattern                        data
---   ClaudeCodeServerStarted        { port: integer, lock_file: string }
---   ClaudeCodeServerStopped        { port: integer, reason: "stopped"|"crashed"|"failed" }
---   ClaudeCodeClientConnected      { id, name: string, version?: string, pid?: integer }
---   ClaudeCodeClientDisconnected   the same
---
--- "crashed" is followed by ClaudeCodeServerStarted, or by "failed" once restarting was given up.
--- A client counts as connected when it has said its name.
local M = {}

---@alias claude-code.Event
---| "ServerStarted"
---| "ServerStopped"
---| "ClientConnected"
---| "ClientDisconnected"

--- An error in somebody's handler is reported and never reaches the caller.
---@param event claude-code.Event
---@param data table
function M.emit(event, data)
  local pattern = "ClaudeCode" .. event
  local ok, message =
    pcall(vim.api.nvim_exec_autocmds, "User", { pattern = pattern, modeline = false, data = data })
  if not ok then
    require("claude-code.notify").error(("a %s autocommand failed: %s"):format(pattern, message))
  end
end

return M
