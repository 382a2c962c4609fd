--- One short text for a status line. Called at each redraw, so it looks at what is loaded already
--- and loads nothing.
local M = {}

---@param name string a module of claude-code
---@return table? module if it is loaded
local function loaded(name)
  return package.loaded["claude-code." .. name]
end

---@class claude-code.Indicator
---@field state "stopped"|"downloading"|"starting"|"failed"|"waiting"|"connected" waiting: for a CLI to connect
---@field clients integer how many are connected
---@field diffs integer how many wait for an answer
---@field activity? claude-code.Activity of Claude, where its hooks run
---@field to_review integer changes that wait for a review
---@field unknown? string "diagnostics of 2 files unknown (gopls is still indexing)"

---@return claude-code.Indicator
function M.get()
  local server, diff, activity =
    loaded("server"), loaded("editor.diff"), loaded("sessions.activity")
  local unchecked, review = loaded("editor.session.unchecked"), loaded("editor.review")
  local state = server and server.state or "stopped"
  local clients = server and #server.clients or 0
  if state == "ready" then
    state = clients > 0 and "connected" or "waiting"
  end
  return {
    state = state,
    clients = clients,
    diffs = diff and diff.count() or 0,
    activity = activity and activity.get(),
    to_review = review and review.count() or 0,
    unknown = unchecked and unchecked.text(),
  }
end

---@param indicator claude-code.Indicator
---@return string
local function text_of(indicator)
  if indicator.state ~= "connected" then
    return indicator.state
  end
  local word = indicator.activity or "connected"
  return indicator.clients > 1 and ("%s ×%d"):format(word, indicator.clients) or word
end

--- "Claude waiting", "Claude working, 2 diffs", …
---@return string
function M.text()
  local indicator = M.get()
  local text = "Claude " .. text_of(indicator)
  if indicator.diffs > 0 then
    text = ("%s, %d diff%s"):format(text, indicator.diffs, indicator.diffs > 1 and "s" or "")
  end
  if indicator.to_review > 0 then
    text = ("%s, %d to review"):format(text, indicator.to_review)
  end
  return indicator.unknown and ("%s, %s"):format(text, indicator.unknown) or text
end

--- The highlight group for the text: what needs the user stands out.
---@return string
function M.highlight()
  local indicator = M.get()
  if indicator.state == "failed" then
    return "DiagnosticError"
  elseif indicator.diffs > 0 or indicator.unknown then
    return "DiagnosticWarn"
  elseif indicator.activity == "working" then
    return "DiagnosticInfo"
  end
  return indicator.state == "connected" and "DiagnosticOk" or "Comment"
end

local is_watching = false

--- Redraws status lines when the text changes, from the first call on.
function M.redraw_on_change()
  if is_watching then
    return
  end
  is_watching = true
  vim.api.nvim_create_autocmd("User", {
    group = vim.api.nvim_create_augroup("claude-code.statusline", { clear = true }),
    pattern = {
      "ClaudeCodeServer*",
      "ClaudeCodeClient*",
      "ClaudeCodeDiff*",
      "ClaudeCodeActivityChanged",
      "ClaudeCodeReviewChanged",
      "ClaudeCodeUnknownDiagnostics",
    },
    callback = vim.schedule_wrap(function()
      vim.cmd.redrawstatus({ bang = true })
    end),
  })
end

return M
