--- The state of a session, and whose report of it counts.
local M = {}

---@alias claude-code.SessionState "idle"|"working"|"blocked"|"done"|"error"
---@alias claude-code.BlockedKind "permission"|"question"|"auth"
---@alias claude-code.StateSource "terminal"|"registry"|"connection"|"hook"

---@class claude-code.StateReport
---@field state? claude-code.SessionState nil: the source reports no longer
---@field kind? claude-code.BlockedKind
---@field msg? string

--- A source never overrules one that is above it. The first two know all that happens; of an Esc
--- neither a hook nor the connection says anything, and only both together know a whole turn.
---@type table<claude-code.StateSource, integer>
local RANK = { hook = 1, connection = 1, registry = 2, terminal = 3 }

---@return integer ms since 1970
function M.now()
  local seconds, microseconds = vim.uv.gettimeofday()
  return seconds * 1000 + math.floor(microseconds / 1000)
end

---@param row claude-code.SessionRow
---@param source claude-code.StateSource
---@param report claude-code.StateReport
function M.apply(row, source, report)
  if row.source and RANK[source] < RANK[row.source] then
    return
  end
  -- Of a session elsewhere nobody knows when the user looks at it.
  local now = report.state == "done" and not row.buf and "idle" or report.state
  if row.state ~= now or row.kind ~= report.kind then
    row.since, row.seen = M.now(), false
  end
  row.source = now and source or nil
  row.state, row.kind, row.msg = now, report.kind, report.msg
end

return M
