--- What happens, as `User` autocommands for the user's own configuration:
---
---   pattern                        data
---   ClaudeCodeServerStarted        { port: integer, lock_file: string }
---   ClaudeCodeServerStopped        { port: integer, reason: "stopped"|"crashed"|"failed" }
---   ClaudeCodeClientConnected      { id, name: string, version?: string, pid?: integer }
---   ClaudeCodeClientDisconnected   the same
---   ClaudeCodeSelectionSent        { path: string, text: string, mode: "n"|"v"|"V"|"\22",
---                                    start: { line, character }, end: { line, character } }
---   ClaudeCodeDiffOpened           { id: integer, client: integer, path: string }
---   ClaudeCodeDiffAccepted         the same
---   ClaudeCodeDiffRejected         the same: by the user, or by closing its window
---   ClaudeCodeDiffClosed           the same: it was answered elsewhere, or its client disconnected
---   ClaudeCodeActivityChanged      { activity?: "working"|"idle" } nil: no CLI with hooks runs
---
--- "crashed" is followed by ClaudeCodeServerStarted, or by "failed" when it was restarted too often.
--- A selection without text is the cursor; its lines are 0-based, its characters UTF-16 code units,
--- its path is "" once the file was closed. It is sent to all clients when it has changed, and to
--- one that has connected or been given a prompt.
--- A client counts as connected once it has sent its name.
local M = {}

---@alias claude-code.Event
---| "ServerStarted"
---| "ServerStopped"
---| "ClientConnected"
---| "ClientDisconnected"
---| "SelectionSent"
---| "DiffOpened"
---| "DiffAccepted"
---| "DiffRejected"
---| "DiffClosed"
---| "ActivityChanged"

---Fires an event. An error in a handler is reported and does not reach the caller.
---@param event claude-code.Event
---@param data table
function M.emit(event, data)
  local pattern = "ClaudeCode" .. event
  local ok, message =
    pcall(vim.api.nvim_exec_autocmds, "User", { pattern = pattern, modeline = false, data = data })
  if not ok then
    require("claude-code.messages.notify").error(
      ("a %s autocommand failed: %s"):format(pattern, message)
    )
  end
end

return M
