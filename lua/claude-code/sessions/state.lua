--- The state of a session, and whose report of it counts.
local M = {}

---@alias claude-code.SessionState "idle"|"working"|"blocked"|"done"|"error"
---@alias claude-code.BlockedKind "permission"|"question"|"auth"
---@alias claude-code.StateSource "terminal"|"registry"|"connection"|"hook"

---@class claude-code.StateReport
---@field state claude-code.SessionState
---@field kind? claude-code.BlockedKind
---@field msg? string

--- A source that is below another one never overrules it: hooks say nothing of an Esc, and those of
--- one tool come after the question of the next.
---@type table<claude-code.StateSource, integer>
local RANK = { hook = 1, connection = 2, registry = 3, terminal = 4 }

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
  row.source = source
  if row.state ~= report.state or row.kind ~= report.kind then
    row.since, row.seen = M.now(), false
  end
  row.state, row.kind, row.msg = report.state, report.kind, report.msg
end

return M
