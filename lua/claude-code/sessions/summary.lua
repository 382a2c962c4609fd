--- What all sessions that belong to this Neovim do, in a few words, and whether any of them works: User
--- ClaudeCodeActivityChanged.
local label = require("claude-code.sessions.label")
local programs = require("claude-code.programs")
local rows = require("claude-code.sessions.rows")

local M = {}

--- What the user should know of first comes first.
---@type claude-code.SessionState[]
local ORDER = { "blocked", "error", "working", "done" }

local function name(row)
  return row.name or row.worktree or row.n and ("session %d"):format(row.n) or "another"
end

--- A single one that is not working has its name.
---@param found claude-code.SessionRow[] of one state
local function part(found)
  local state = found[1].state
  local who = #found == 1 and state ~= "working" and name(found[1]) or #found
  local words = #found > 1 and state == "blocked" and "need input" or label.words(state)
  return ("%s %s"):format(who, words)
end

---@return claude-code.SessionRow[] those that belong to this Neovim
function M.attached()
  return vim.tbl_filter(function(row)
    return row.attached
  end, rows.list())
end

local function fullest(all)
  local full = all[1]
  for _, row in ipairs(all) do
    full = (row.context or 0) > (full.context or 0) and row or full
  end
  local text = full and require("claude-code.sessions.transcripts").fullness(full)
  return text and (#all > 1 and name(full) .. " " or "") .. text
end

---@class claude-code.SessionSummary
---@field count integer of sessions
---@field worst? claude-code.SessionState
---@field text? string of one session only what "working" and "idle" do not say
---@field full? string how full the context of one is, if that is to be thought of

---@return claude-code.SessionSummary
function M.get()
  local all, parts, worst = M.attached(), {}, nil
  for _, state in ipairs(ORDER) do
    local found = vim.tbl_filter(function(row)
      return row.state == state
    end, all)
    if #found > 0 then
      worst = worst or state
      parts[#parts + 1] = #all == 1 and label.words(state) or part(found)
    end
  end
  local text = #parts > 0 and table.concat(parts, ", ") or #all > 1 and "idle" or nil
  if #all == 1 and worst == "working" then
    text = nil
  end
  return { count = #all, worst = worst, text = text, full = fullest(all) }
end

---@alias claude-code.Activity "working"|"idle"

---@type claude-code.Activity?
local emitted

local function activity_of(row)
  -- No hook reports that a CLI was killed.
  local is_gone = row.source == "hook" and row.pid and not programs.is_alive(row.pid)
  if not row.state or is_gone then
    return nil
  end
  return (row.state == "working" or row.state == "blocked") and "working" or "idle"
end

---"working" if any of them is in the middle of a turn; nil if no state is known.
---@return claude-code.Activity?
function M.activity()
  local activity
  for _, row in ipairs(M.attached()) do
    activity = activity ~= "working" and activity_of(row) or activity
  end
  return activity
end

---Reports a change of it.
function M.emit()
  local now = M.activity()
  if now ~= emitted then
    emitted = now
    require("claude-code.lib.events").emit("ActivityChanged", { activity = now })
  end
end

return M
