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

---@param row claude-code.SessionRow
---@return string of one cell
function M.symbol(row)
  return (STATES[row.state] or UNKNOWN).symbol
end

---@param row claude-code.SessionRow
---@return string group of its symbol
function M.highlight(row)
  return (STATES[row.state] or UNKNOWN).highlight
end

---@param state? claude-code.SessionState
---@return string
function M.words(state)
  return (STATES[state] or UNKNOWN).words
end

---@param row claude-code.SessionRow
---@return boolean would its end lose something?
function M.is_busy(row)
  return row.state == "working" or row.state == "blocked"
end

---@param row claude-code.SessionRow
---@return string
function M.sentence(row)
  local is = (row.state == "blocked" or row.state == "error") and " " or " is "
  return M.of(row) .. is .. M.words(row.state)
end

---@param row claude-code.SessionRow
---@return string message of its action or question, or its state
function M.activity(row)
  return row.msg or M.words(row.state)
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

--- In a list: "docs", or "Claude 2" without a name.
---@param row claude-code.SessionRow
---@return string
function M.name(row)
  return given_name(row) or numbered(row)
end

--- In a list that shows the number already: "docs", or "Claude" without a name.
---@param row claude-code.SessionRow
---@return string
function M.unnumbered(row)
  return given_name(row) or "Claude"
end

--- In a sentence: "Claude 2 (docs)".
---@param key integer|claude-code.SessionKey
---@return string
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

---@param since integer ms since 1970
---@return string
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
