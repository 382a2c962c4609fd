--- What the hooks of a CLI say of its state.
local rows = require("claude-code.sessions.rows")
local sources = require("claude-code.sessions.sources")

local M = {}

---@class claude-code.HookParams what every hook sends
---@field session string the session's id
---@field pid? integer the CLI's; older ones do not send it
---@field n? integer the number of the session's row, which the CLI has inherited
---@field cwd? string
---@field mode? string the permission mode of the turn

---A hook reports.
---@param params claude-code.HookParams
---@param now "working"|"idle"|"done"
function M.report(params, now)
  if now == "done" and params.mode then
    require("claude-code.sessions.ways").say_once(params.mode)
  end
  local pid = params.pid
  if not pid and not params.n then
    return
  end
  sources.start()
  local key = { n = params.n, pid = pid, id = params.session }
  if pid then
    sources.add(key, { cwd = params.cwd })
  end
  rows.report(key, "hook", { state = now }, { attached = true })
end

---The SessionEnd hook: the CLI ends, or goes on with another conversation.
---@param params claude-code.HookParams
function M.ended(params)
  local key = { n = params.n, pid = params.pid, id = params.session }
  local row = rows.get(key)
  if not row or row.source == "terminal" or row.source == "registry" then
    return
  elseif row.n or row.connected then
    rows.report(key, "hook", {})
  else
    rows.remove(key)
  end
end

return M
