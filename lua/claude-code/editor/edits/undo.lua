--- Takes back what Claude renamed; the executable does it, and reports it here.
local channel = require("claude-code.server.channel")
local notify = require("claude-code.messages.notify")

local M = {}

function M.request()
  if not channel.is_attached() or not channel.notify("undo_rename", vim.empty_dict()) then
    notify.error("the server is not running, so nothing was undone: :Claude start starts it")
  end
end

---@param report { done?: string, problem?: string, changes?: claude-code.ChangedFile[] }
---@return true
function M.on_report(report)
  require("claude-code.editor.language.files").notify(report.changes or {})
  if report.done then
    notify.info(report.done)
  else
    notify.warn(report.problem --[[@as string]])
  end
  return true
end

return M
