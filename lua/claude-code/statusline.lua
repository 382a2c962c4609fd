--- A short text for the status line. Each redraw calls it, so it loads no module of a feature that is not in use.
local M = {}

local function loaded(name)
  return package.loaded["claude-code." .. name]
end

--- Most urgent first.
---@type claude-code.SessionState[]
local ORDER = { "blocked", "error", "working", "done" }

--- "docs needs input", "2 need input", "1 working", "all done".
---@param found claude-code.SessionRow[] of one state
local function part(found, all)
  local state, label = found[1].state, require("claude-code.sessions.label")
  local subject = #found == 1 and state ~= "working" and label.name(found[1])
    or (#found == #all and "all" or #found)
  local words = #found > 1 and state == "blocked" and "need input" or label.state(state).words
  return ("%s %s"):format(subject, words)
end

local function fullest(all)
  local full = all[1]
  for _, row in ipairs(all) do
    full = (row.context or 0) > (full.context or 0) and row or full
  end
  local text = full and require("claude-code.sessions.transcripts").fullness(full)
  local name = text and #all > 1 and require("claude-code.sessions.label").name(full) .. " "
  return text and (name or "") .. text
end

---@class claude-code.SessionSummary
---@field count integer of sessions
---@field worst? claude-code.SessionState
---@field text? string nil for a single session that works or is idle
---@field full? string of the fullest context
---@field tasks? string "2/5 parser", of the first session that has a task left
---@field cost? string "$0.42", of all

local function summary_of(all)
  local parts, worst = {}, nil
  for _, state in ipairs(ORDER) do
    local found = vim.tbl_filter(function(row)
      return row.state == state
    end, all)
    if #found > 0 then
      worst = worst or state
      local words = require("claude-code.sessions.label").state(state).words
      parts[#parts + 1] = #all == 1 and words or part(found, all)
    end
  end
  local text = #parts > 0 and table.concat(parts, ", ") or #all > 1 and "idle" or nil
  if #all == 1 and worst == "working" then
    text = nil
  end
  local label = #all > 0 and require("claude-code.sessions.label")
  return {
    count = #all,
    worst = worst,
    text = text,
    full = fullest(all),
    tasks = label and vim.iter(all):map(label.tasks):next(),
    cost = label and label.cost(all),
  }
end

---@class claude-code.Indicator
---@field state "stopped"|"downloading"|"starting"|"failed"|"waiting"|"connected" `waiting`: no CLI has connected yet
---@field clients integer connected CLIs
---@field diffs integer that wait for an answer
---@field activity? claude-code.Activity of all sessions together
---@field sessions claude-code.SessionSummary
---@field to_review integer changes that wait for a review
---@field incomplete? string why the review misses changes by Claude: "hooks off"
---@field sends? string the selection as Claude knows it: "⧉ 3 lines", "⧉ main.lua"
---@field held? string "waits for config.lua"
---@field conflict? string "gm merges config.lua"

---@return claude-code.Indicator
function M.get()
  local server, diff, rows = loaded("server"), loaded("editor.diff"), loaded("sessions.rows")
  local review, selection = loaded("editor.review"), loaded("editor.selection")
  local hold, unsaved = loaded("editor.documents.hold"), loaded("editor.documents.unsaved")
  local state = server and server.state or "stopped"
  local clients = server and #server.clients or 0
  if state == "ready" then
    state = clients > 0 and "connected" or "waiting"
  end
  local sessions = summary_of(rows and rows.attached() or {})
  return {
    state = state,
    clients = clients,
    diffs = diff and diff.count() or 0,
    activity = rows and rows.activity(),
    sessions = sessions,
    to_review = review and review.count() or 0,
    incomplete = review and review.incomplete(clients + sessions.count > 0),
    sends = selection and selection.mark(),
    held = hold and hold.text(),
    conflict = unsaved and unsaved.text(),
  }
end

local function text_of(indicator)
  local sessions, clients = indicator.sessions, indicator.clients
  local is_ready = indicator.state == "connected" or indicator.state == "waiting"
  if is_ready and sessions.count > 1 then
    return ("%d Claudes: %s"):format(sessions.count, sessions.text)
  elseif is_ready and sessions.count + clients == 0 then
    return "no Claude"
  elseif not is_ready or sessions.text then
    return "Claude " .. (is_ready and sessions.text or indicator.state)
  end
  local word = indicator.activity or (clients > 0 and "connected" or "not connected")
  return "Claude " .. (clients > 1 and ("%s ×%d"):format(word, clients) or word)
end

--- "no Claude", "Claude working, 2 edits wait", "3 Claudes: docs needs input, 1 working", …
function M.text()
  local indicator = M.get()
  local diffs = indicator.diffs > 1 and "%d edits wait" or "%d edit waits"
  local parts = { text_of(indicator) }
  for _, words in ipairs({
    indicator.sessions.full or false,
    indicator.sessions.tasks or false,
    indicator.sessions.cost or false,
    indicator.held or false,
    indicator.conflict or false,
    indicator.diffs > 0 and diffs:format(indicator.diffs),
    indicator.to_review > 0 and ("%d to review"):format(indicator.to_review),
    indicator.incomplete or false,
    indicator.sends or false,
  }) do
    parts[#parts + 1] = words or nil
  end
  -- Any name may contain `%{…}`, which lualine.nvim would run. Others would show a doubled percent sign as two.
  return (require("claude-code.lib.text").visible(table.concat(parts, ", ")):gsub("%%", "％"))
end

---@return string group for the text
function M.highlight()
  local indicator = M.get()
  local worst = indicator.sessions.worst
  local is_waiting = indicator.diffs > 0
    or worst == "blocked"
    or indicator.held
    or indicator.conflict
  if indicator.state == "failed" or worst == "error" then
    return "DiagnosticError"
  elseif is_waiting or indicator.incomplete then
    return "DiagnosticWarn"
  elseif indicator.activity == "working" then
    return "DiagnosticInfo"
  end
  return indicator.state == "connected" and "DiagnosticOk" or "Comment"
end

local is_watching = false

--- From the first call on, redraws status lines when the text may change.
function M.redraw_on_change()
  if is_watching then
    return
  end
  is_watching = true
  local redraw = vim.schedule_wrap(function()
    vim.cmd.redrawstatus({ bang = true })
  end)
  require("claude-code.lib.autocommands").new("statusline"):on("User", redraw, {
    pattern = {
      "ClaudeCodeServer*",
      "ClaudeCodeClient*",
      "ClaudeCodeDiff*",
      "ClaudeCodeSession*",
      "ClaudeCodeActivityChanged",
      "ClaudeCodeReviewChanged",
      "ClaudeCodeSelectionSent",
    },
  })
end

return M
