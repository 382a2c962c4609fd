--- What the user commands do. plugin/claude-code.lua defines them.
local M = {}

function M.start()
  local server = require("claude-code.server")
  if server.state == "starting" or server.state == "ready" then
    local text = "the server is %s already; :ClaudeCodeStatus tells more"
    require("claude-code.notify").info(text:format(server.state))
    return
  end
  require("claude-code").start()
end

function M.stop()
  local was = require("claude-code.server").state
  require("claude-code").stop()
  local text = was == "stopped" and "the server was not running" or "the server is stopped"
  require("claude-code.notify").info(text)
end

function M.status()
  require("claude-code.report").open("Claude Code", require("claude-code.status").lines())
end

function M.log()
  local path = require("claude-code.log").path()
  if not vim.uv.fs_stat(path) then
    require("claude-code.notify").info(("nothing has been logged to %s yet"):format(path))
    return
  end
  vim.cmd.split({ args = { vim.fn.fnameescape(path) } })
  vim.bo.autoread = true
  vim.bo.readonly = true
  vim.cmd.normal({ args = { "G" }, bang = true })
end

--- The only place of this half that reaches into the other one, by its front door.
---@param method "accept"|"reject"
local function answer_diff(method)
  local answered, message = require("claude-code.editor")[method]()
  if not answered then
    require("claude-code.notify").warn(message or "no diff is waiting for an answer")
  end
end

function M.diff_accept()
  answer_diff("accept")
end

function M.diff_deny()
  answer_diff("reject")
end

return M
