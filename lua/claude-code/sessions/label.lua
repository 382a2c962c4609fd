--- Names and descriptions of sessions for the user.
local rows = require("claude-code.sessions.rows")

local M = {}

---@type table<claude-code.SessionState, { symbol: string, words: string, highlight: string }>
local STATES = {
  blocked = { symbol = "◆", words = "needs input", highlight = "ClaudeCodeSessionBlocked" },
  working = { symbol = "●", words = "working", highlight = "ClaudeCodeSessionWorking" },
  done = { symbol = "✓", words = "done", highlight = "ClaudeCodeSessionDone" },
  error = { symbol = "✗", words = "failed", highlight = "ClaudeCodeSessionError" },
  idle = { symbol = "○", words = "idle", highlight = "ClaudeCodeSessionIdle" },
}
local UNKNOWN = { symbol = "○", words = "state unknown", highlight = "ClaudeCodeSessionIdle" }

---@param state? claude-code.SessionState
---@return { symbol: string, words: string, highlight: string } the symbol has one cell
function M.state(state)
  return STATES[state] or UNKNOWN
end

---@return boolean would ending it lose something?
function M.is_busy(row)
  return row.state == "working" or row.state == "blocked"
end

function M.sentence(row)
  local is = (row.state == "blocked" or row.state == "error") and " " or " is "
  return M.of(row) .. is .. M.state(row.state).words
end

---@return string its action or question, or else its state
function M.activity(row)
  return row.msg or M.state(row.state).words
end

---@return claude-code.SessionRow[] those of this Neovim, by number
function M.own()
  return vim.tbl_filter(function(row)
    return row.n ~= nil
  end, rows.list())
end

local function given_name(row)
  return row.name or row.worktree or row.remote or not row.n and row.id and row.id:sub(1, 8) or nil
end

--- "Claude", or "Claude 2" if several sessions run in this Neovim.
local function numbered(row)
  return "Claude" .. (row.n and #M.own() > 1 and " " .. row.n or "")
end

---@return string for a list: "docs", or "Claude 2" without a name
function M.name(row)
  return given_name(row) or numbered(row)
end

---@return string for a list with numbers: "docs", or "Claude" without a name
function M.unnumbered(row)
  return given_name(row) or "Claude"
end

---@param key integer|claude-code.SessionKey
---@return string for a sentence: "Claude 2 (docs)"
function M.of(key)
  local row = rows.get(key) or {}
  local name = given_name(row)
  return numbered(row) .. (name and (" (%s)"):format(name) or "")
end

---@return table<string, string>? names by the conversations' ids; nil unless several run in this Neovim
function M.by_conversation()
  if #M.own() < 2 then
    return nil
  end
  local names = {}
  for _, row in ipairs(rows.list()) do
    if row.id then
      names[row.id] = row.n and M.of(row.n) or M.name(row)
    end
  end
  return names
end

--- Characters of a task's name.
local MAX_TASK = 30

---@return string? tasks "2/5 parser"; nil if none is left
function M.tasks(row)
  local tasks = row.tasks
  if tasks and tasks.done < tasks.all then
    local doing = require("claude-code.lib.text").one_line(tasks.doing, MAX_TASK)
    return ("%d/%d%s"):format(tasks.done, tasks.all, doing and " " .. doing or "")
  end
end

---@param list claude-code.SessionRow[]
---@return string? cost "$0.42", as the CLIs estimate it
function M.cost(list)
  local cost = 0
  for _, row in ipairs(list) do
    cost = cost + (row.usage and row.usage.cost or 0)
  end
  return cost >= 0.01 and ("$%.2f"):format(cost) or nil
end

---@param since integer ms since 1970
function M.age(since)
  local minutes = math.floor((os.time() - since / 1000) / 60)
  if minutes < 1 then
    return "now"
  elseif minutes < 60 then
    return ("%d min"):format(minutes)
  elseif minutes < 48 * 60 then
    return ("%d h"):format(math.floor(minutes / 60))
  end
  return ("%d days"):format(math.floor(minutes / 60 / 24))
end

return M
