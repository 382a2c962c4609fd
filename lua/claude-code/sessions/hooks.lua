--- What the hooks of a CLI and its prompts say of its state: together they know most of a turn.
local rows = require("claude-code.sessions.rows")
local sources = require("claude-code.sessions.sources")

local M = {}

--- CLIs that were given a prompt before their first hook came.
---@type table<integer, true>
local prompted = {}

---A CLI was given a prompt, as its connection shows: each prompt closes all diffs. Only others know
---when the turn ends, so it counts from when one of them reports.
---@param params { pid: integer }
---@return true
function M.prompted(params)
  local row = rows.get({ pid = params.pid })
  if row and row.state then
    rows.report({ pid = params.pid }, "connection", { state = "working" })
  else
    prompted[params.pid] = true
  end
  return true
end

---@class claude-code.HookParams what every hook sends
---@field session string the session's id
---@field pid? integer the CLI's; older ones do not send it
---@field n? integer the number of the session's row, which the CLI has inherited
---@field cwd? string

---A hook reports. SessionStart takes its time, and may come after the first prompt.
---@param params claude-code.HookParams
---@param now "working"|"idle"|"done"|"started"
function M.report(params, now)
  local pid = params.pid
  if not pid and not params.n then
    return
  end
  sources.start()
  local key = { n = params.n, pid = pid, id = params.session }
  if pid then
    sources.add(key, { cwd = params.cwd })
  end
  local state = now ~= "started" and now or prompted[pid or 0] and "working" or "idle"
  prompted[pid or 0] = nil
  rows.report(key, "hook", { state = state }, { attached = true })
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
