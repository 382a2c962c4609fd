--- Shows the user problems that language servers report only after Claude's turn.
local counted = require("claude-code.lib.text").count
local filter = require("claude-code.editor.turn_check.filter")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")
local servers = require("claude-code.editor.diagnostics.servers")
local sessions = require("claude-code.editor.turn_check.sessions")
local timer = require("claude-code.lib.timer")

---Reports within this time lead to one message.
local BATCH_MS = 300

local STATES = {
  starting = "%s is still starting",
  indexing = "%s is still indexing",
  late = "%s has not reported in time",
  ended = "%s has ended",
  asleep = "you have no %s file open",
}

local M = {}

local cancel_watch ---@type fun()?

---@param list claude-code.EditedFile[]
---@return claude-code.EditedFile[] files without a report, except unchecked ones
function M.missing(list)
  return vim.tbl_filter(function(edited)
    return #edited.missing > 0 and not edited.file.unchecked
  end, list)
end

---@param list claude-code.EditedFile[]
---@return string? reasons such as "gopls is still indexing"; nil if no report is missing
function M.reasons(list)
  local reasons = {}
  for _, edited in ipairs(list) do
    for _, missing in ipairs(edited.missing) do
      local reason = STATES[missing.state]:format(missing.name)
      if not vim.tbl_contains(reasons, reason) then
        reasons[#reasons + 1] = reason
      end
    end
  end
  return reasons[1] and table.concat(reasons, ", ")
end

---@param list claude-code.EditedFile[]
---@return string? text such as "diagnostics of 2 files unknown (gopls is still indexing)"
function M.describe(list)
  list = vim.tbl_filter(function(edited)
    return #edited.missing > 0
  end, list)
  local reasons = M.reasons(list)
  local which = #list == 1 and path.title(list[1].path) or ("%d files"):format(#list)
  return reasons and ("diagnostics of %s unknown (%s)"):format(which, reasons)
end

---@class claude-code.FileProblem
---@field path string
---@field item claude-code.Diagnostic

local function problems_of(real, file)
  local buf = sessions.open_buffer(real)
  local items = buf and require("claude-code.editor.diagnostics").items(buf) or {}
  return vim.tbl_map(function(item)
    return { path = real, item = item }
  end, filter.counted(real, items, file.before))
end

---@return string text such as "2 errors, 1 warning"
local function count_text(counts)
  local parts = {}
  for severity, name in ipairs({ "error", "warning", "note", "hint" }) do
    local count = counts[severity]
    parts[#parts + 1] = count > 0 and counted(count, name) or nil
  end
  return table.concat(parts, ", ")
end

---@param name string of the session
local function report(problems, name)
  local paths = {}
  for _, problem in ipairs(problems) do
    paths[problem.path] = true
  end
  local count = vim.tbl_count(paths)
  local where = count == 1 and path.title(next(paths)) or ("%d files"):format(count)
  local whose = name == "Claude" and "Claude's turn" or "the turn of " .. name
  local text = "found after %s: %s in %s; :Claude diagnostics! sends this to %s"
  require("claude-code.messages.notify").warn(
    text:format(whose, count_text(filter.tally(problems)), where, name),
    "diagnostics.late." .. name
  )
end

---@param found claude-code.FileProblem[] gets more problems
---@return boolean waits a report is still missing
local function review_session(session, found)
  local waits = false
  for real, file in pairs(session.files) do
    local buf = file.unchecked and sessions.open_buffer(real)
    if buf and (pending.is_pending(buf) or #pending.missing(buf) > 0) then
      waits = true
    elseif file.unchecked then
      local problems = problems_of(real, file)
      vim.list_extend(found, problems)
      file.unchecked, file.late = nil, true
      session.files[real] = #problems > 0 and file or nil
    end
  end
  return waits
end

local function review()
  local found, waits = {}, false
  local names = require("claude-code.sessions.label").by_conversation() or {}
  for _, session in ipairs(sessions.list()) do
    local name = names[session.id] or "Claude"
    found[name] = found[name] or {}
    waits = review_session(session, found[name]) or waits
  end
  for name, problems in pairs(found) do
    if #problems > 0 then
      report(problems, name)
    end
  end
  if not waits and cancel_watch then
    cancel_watch()
    cancel_watch = nil
  end
end

local function watch()
  if cancel_watch then
    return
  end
  local review_soon, cancel_review = timer.debounce(BATCH_MS, review)
  local cancel_change = pending.on_change(review_soon)
  cancel_watch = function()
    cancel_change()
    cancel_review()
  end
end

---Claude ends its turn: forgets its files, except those without reports.
---@param waited boolean a hook has waited for reports in vain
---@return string? text about missing reports, for the user
function M.leave(session, waited)
  local is_on = require("claude-code.config").get().diagnostics.block
  local list = is_on and sessions.edited_files(session) or {}
  local unknown = waited and M.missing(list) or {}
  for _, edited in ipairs(unknown) do
    vim.iter(edited.missing):each(function(missing)
      servers.on_waited(missing.id)
    end)
  end
  session.files = {}
  for _, edited in ipairs(list) do
    if edited.is_pending or vim.list_contains(unknown, edited) then
      edited.file.unchecked = true
      session.files[edited.path] = edited.file
      watch()
    end
  end
  return M.describe(unknown)
end

---Collects problems that were found after Claude's turn, in files that it has not edited since. If several sessions
---run, chooses one with such problems, preferably the current one.
---@return claude-code.FileProblem[], integer? n of that session, if several run
function M.problems()
  local rows = require("claude-code.sessions")
  local is_one = require("claude-code.sessions.label").by_conversation() == nil
  local current, of, chosen = rows.current(), {}, nil
  for _, session in ipairs(sessions.list()) do
    local row = not is_one and rows.get({ id = session.id })
    local n = row and row.n or 0
    of[n] = of[n] or {}
    for real, file in pairs(session.files) do
      vim.list_extend(of[n], file.late and problems_of(real, file) or {})
    end
    chosen = #of[n] > 0 and (n == current and n or chosen or n) or chosen
  end
  local problems = of[chosen] or {}
  return filter.worst(problems, #problems), chosen ~= 0 and chosen or nil
end

return M
