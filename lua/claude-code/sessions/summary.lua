--- What all sessions that belong to this Neovim do, in a few words, and whether any of them works: User
--- ClaudeCodeActivityChanged.
local process = require("claude-code.programs.process")
local rows = require("claude-code.sessions.rows")

local M = {}

--- What the user should know of first comes first.
---@type { state: claude-code.SessionState, one: string, several: string }[]
local ORDER = {
  { state = "blocked", one = "needs input", several = "need input" },
  { state = "error", one = "failed", several = "failed" },
  { state = "working", one = "working", several = "working" },
  { state = "done", one = "done", several = "done" },
}

---@param row claude-code.SessionRow
---@return string
local function name(row)
  return row.name or row.worktree or row.n and ("session %d"):format(row.n) or "another"
end

--- A single one that is not working has its name.
---@param found claude-code.SessionRow[]
---@param words { state: claude-code.SessionState, one: string, several: string }
---@return string
local function part(found, words)
  if #found == 1 and words.state ~= "working" then
    return ("%s %s"):format(name(found[1]), words.one)
  end
  return ("%d %s"):format(#found, #found == 1 and words.one or words.several)
end

---@return claude-code.SessionRow[]
local function attached()
  return vim.tbl_filter(function(row)
    return row.attached
  end, rows.peek())
end

---@class claude-code.SessionSummary
---@field count integer of sessions
---@field worst? claude-code.SessionState
---@field text? string of one session only what "working" and "idle" do not say

---@return claude-code.SessionSummary
function M.get()
  local all, parts, worst = attached(), {}, nil
  for _, words in ipairs(ORDER) do
    local found = vim.tbl_filter(function(row)
      return row.state == words.state
    end, all)
    if #found > 0 then
      worst = worst or words.state
      parts[#parts + 1] = #all == 1 and words.one or part(found, words)
    end
  end
  local text = #parts > 0 and table.concat(parts, ", ") or #all > 1 and "idle" or nil
  if #all == 1 and worst == "working" then
    text = nil
  end
  return { count = #all, worst = worst, text = text }
end

---@alias claude-code.Activity "working"|"idle"

---@type claude-code.Activity?
local emitted

---@param row claude-code.SessionRow
---@return claude-code.Activity?
local function activity_of(row)
  -- No hook reports that a CLI was killed.
  local is_gone = row.source == "hook" and row.pid and not process.is_alive(row.pid)
  if not row.attached or not row.state or is_gone then
    return nil
  end
  return (row.state == "working" or row.state == "blocked") and "working" or "idle"
end

---"working" if any of them is in the middle of a turn; nil if no state is known.
---@return claude-code.Activity?
function M.activity()
  local activity
  for _, row in ipairs(rows.peek()) do
    activity = activity ~= "working" and activity_of(row) or activity
  end
  return activity
end

local function emit()
  local now = M.activity()
  if now ~= emitted then
    emitted = now
    require("claude-code.lib.events").emit("ActivityChanged", { activity = now })
  end
end

---Reports changes, from the first call on.
function M.follow()
  local group = require("claude-code.lib.autocommands").new("sessions.summary")
  group:on("User", emit, { pattern = "ClaudeCodeSession*" })
end

return M
