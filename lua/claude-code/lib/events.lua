--- `User` autocommands for your own configuration:
---
---   pattern                        data
---   ClaudeCodeServerStarted        { port: integer, lock_file: string }
---   ClaudeCodeServerStopped        { port: integer, reason: "stopped"|"crashed"|"failed" }
---   ClaudeCodeClientConnected      { id, name: string, version?: string, pid?: integer }
---   ClaudeCodeClientDisconnected   the same
---   ClaudeCodeSelectionSent        { path: string, text: string, mode: "n"|"v"|"V"|"\22",
---                                    start: { line, character }, end: { line, character } }
---   ClaudeCodeDiffOpened           { id: integer, client: integer, path: string }
---   ClaudeCodeDiffWaiting          the same, until you show it (diff.open = "waits")
---   ClaudeCodeDiffAccepted         the same
---   ClaudeCodeDiffRejected         the same, with reason?: string; you rejected it or closed its
---                                  window
---   ClaudeCodeDiffClosed           the same, if it was answered elsewhere or its client disconnected
---   ClaudeCodeSessionStarted       { session: claude-code.SessionRow }, a Claude in this Neovim
---   ClaudeCodeSessionChanged       the same, with from?, to?: the states before and now, and kind?,
---                                  msg?: its question or action
---   ClaudeCodeSessionEnded         { session }
---   ClaudeCodeStep                 { session, step: { act: "read"|"searched"|"edited", path: string,
---                                  first?, last?: integer, subject: string } }: Claude begins it
---   ClaudeCodeActivityChanged      { activity?: "working"|"idle" }, nil if no CLI with hooks runs
---   ClaudeCodeReviewChanged        { files, hunks, added, removed: integer } that wait for a review
---
--- ClaudeCodeServerStarted follows "crashed", or "failed" if the server does not start again.
--- A selection without text is the cursor. Its lines are 0-based, its characters are UTF-16 code
--- units, and its path is "" after the file was closed. All clients receive it when it changes, and a
--- client that has connected or received a prompt. A client is connected once it has sent its name.
local M = {}

local waiting ---@type { pattern: string, data: table }[]? events that handlers have caused, in their order

---Fires an event. An error in a handler is reported and does not reach the caller.
---@param event string pattern without "ClaudeCode"
---@param data table
function M.emit(event, data)
  local fired = { pattern = "ClaudeCode" .. event, data = data, modeline = false }
  if waiting then
    return table.insert(waiting, fired)
  end
  waiting = { fired }
  while #waiting > 0 do
    local now = table.remove(waiting, 1)
    local ok, message = pcall(vim.api.nvim_exec_autocmds, "User", now)
    if not ok then
      local text = "a %s autocommand failed: %s"
      require("claude-code.messages.notify").error(text:format(now.pattern, message))
    end
  end
  waiting = nil
end

return M
