--- One short text for a status line. Called at each redraw, so it looks at what is loaded already
--- and loads nothing.
local M = {}

local function loaded(name)
  return package.loaded["claude-code." .. name]
end

---@class claude-code.Indicator
---@field state "stopped"|"downloading"|"starting"|"failed"|"waiting"|"connected" waiting: for a CLI to connect
---@field clients integer how many are connected
---@field diffs integer how many wait for an answer
---@field activity? claude-code.Activity of all sessions together
---@field sessions claude-code.SessionSummary
---@field to_review integer changes that wait for a review
---@field incomplete? string why changes of Claude's are not in the review: "hooks off"
---@field sends? string what Claude knows of where you are: "⧉ 3 lines", "⧉ main.lua"
---@field held? string "waits for config.lua"
---@field conflict? string "gm merges config.lua"

---@return claude-code.Indicator
function M.get()
  local server, diff, summary = loaded("server"), loaded("editor.diff"), loaded("sessions.summary")
  local review = loaded("editor.review")
  local selection, hold = loaded("editor.selection"), loaded("editor.documents.hold")
  local unsaved = loaded("editor.documents.unsaved")
  local state = server and server.state or "stopped"
  local clients = server and #server.clients or 0
  if state == "ready" then
    state = clients > 0 and "connected" or "waiting"
  end
  local sessions = summary and summary.get() or { count = 0 }
  return {
    state = state,
    clients = clients,
    diffs = diff and diff.count() or 0,
    activity = summary and summary.activity(),
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
---@return string
function M.text()
  local indicator = M.get()
  local text = text_of(indicator)
  text = indicator.sessions.full and ("%s, %s"):format(text, indicator.sessions.full) or text
  text = indicator.held and ("%s, %s"):format(text, indicator.held) or text
  text = indicator.conflict and ("%s, %s"):format(text, indicator.conflict) or text
  if indicator.diffs > 0 then
    local words = indicator.diffs > 1 and "edits wait" or "edit waits"
    text = ("%s, %d %s"):format(text, indicator.diffs, words)
  end
  if indicator.to_review > 0 then
    text = ("%s, %d to review"):format(text, indicator.to_review)
  end
  text = indicator.incomplete and ("%s, %s"):format(text, indicator.incomplete) or text
  text = indicator.sends and ("%s, %s"):format(text, indicator.sends) or text
  -- A session, a work tree and a file may have any name, and lualine.nvim, for one, takes `%{…}` in its
  -- components for code. Doubled, it would show twice where it is a mere text.
  return (require("claude-code.lib.text").visible(text):gsub("%%", "％"))
end

--- The highlight group for the text: what needs the user stands out.
---@return string
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

--- Redraws status lines when the text may change, from the first call on.
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
