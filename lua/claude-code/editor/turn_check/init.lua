--- Reports problems in files that a session has edited since Claude was last allowed to stop: to the hooks of the CLI,
--- and to the user if language servers report them only after Claude's turn.
local counted = require("claude-code.lib.text").count
local filter = require("claude-code.editor.turn_check.filter")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")
local sessions = require("claude-code.editor.turn_check.sessions")
local sources = require("claude-code.sessions.sources")
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

---Number of problems that a summary quotes.
local QUOTED = 5

local M = {
  ---How long the hook of an edit waits for language servers.
  AFTER_EDIT_MS = 1500,
  ---How long the end of a turn waits for language servers.
  DEADLINE_MS = 2000,
  ---How long the end of a turn waits, once, for a server that starts or indexes ($/progress).
  BUSY_DEADLINE_MS = 30000,
}

local cancel_watch ---@type fun()?

---@return claude-code.EditedFile[] files without a report, except unchecked ones
local function unreported(list)
  return vim.tbl_filter(function(edited)
    return #edited.missing > 0 and not edited.file.unchecked
  end, list)
end

---@return string? reasons such as "gopls is still indexing"; nil if no report is missing
local function reasons_of(list)
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

---@return string? text such as "diagnostics of 2 files unknown (gopls is still indexing)"
local function describe(list)
  list = vim.tbl_filter(function(edited)
    return #edited.missing > 0
  end, list)
  local reasons = reasons_of(list)
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
  local where = count == 1 and path.title((next(paths))) or ("%d files"):format(count)
  local whose = name == "Claude" and "Claude's turn" or "the turn of " .. name
  local text = "found after %s: %s in %s; :Claude diagnostics! sends this to %s"
  require("claude-code.messages.notify").warn(
    text:format(whose, count_text(filter.tally(problems)), where, name),
    "diagnostics.late." .. name
  )
end

---Reports the problems of unchecked files, and stops watching once no report is missing.
local function review()
  local found, waits = {}, false ---@type table<string, claude-code.FileProblem[]>, boolean
  local names = require("claude-code.sessions.label").by_conversation() or {}
  for _, session in ipairs(sessions.list()) do
    local name = names[session.id] or "Claude"
    found[name] = found[name] or {}
    for real, file in pairs(session.files) do
      local buf = file.unchecked and sessions.open_buffer(real)
      if buf and (pending.is_pending(buf) or #pending.missing(buf) > 0) then
        waits = true
      elseif file.unchecked then
        local problems = problems_of(real, file)
        vim.list_extend(found[name], problems)
        file.unchecked, file.late = nil, true
        session.files[real] = #problems > 0 and file or nil
      end
    end
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
---@param waited boolean a hook's wait for reports has timed out
---@return string? text about missing reports, for the user
local function leave(session, waited)
  local is_on = require("claude-code.config").get().diagnostics.block
  local list = is_on and sessions.edited_files(session) or {}
  local unknown = waited and unreported(list) or {}
  for _, edited in ipairs(unknown) do
    vim.iter(edited.missing):each(function(missing)
      pending.on_waited(missing.id)
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
  return describe(unknown)
end

---A session has started, was resumed or cleared.
function M.start(params)
  sources.on_hook(params, "idle")
  local session = sessions.of(params)
  if session and (params.source == "startup" or params.source == "clear") then
    session.files = {}
  end
end

function M.finish(params)
  sources.on_last_hook(params)
  sessions.finish(params)
end

---Is the CLI connected to Neovim as its IDE? Then Claude sees new diagnostics anyway.
---@param pid? integer of the CLI
local function is_connected(pid)
  return pid ~= nil
    and vim.iter(require("claude-code.server").clients):any(function(client)
      return client.pid == pid and client.name == "claude-code"
    end)
end

function M.edited(params)
  sources.on_hook(params, "working")
  local session = sessions.of(params)
  if not session then
    return nil
  end
  sessions.edited(session, path.real(params.path), params.created == true)
  local is_wanted = require("claude-code.config").get().diagnostics.after_edit
  if is_wanted == "auto" then
    is_wanted = not is_connected(session.pid)
  end
  return { report = is_wanted, timeout_ms = M.AFTER_EDIT_MS }
end

---Language servers have changed files for a session, which count as edited by it.
function M.changed(params)
  local session = sessions.of_server(params.session, params.pid)
  for _, edit in ipairs(session and params.edits or {}) do
    sessions.edited(session, path.real(edit.path), edit.created)
  end
  return session and { session = session.id } or vim.empty_dict()
end

---Finds the problems that the last edit of a file caused.
function M.new_problems(params)
  local session, real = sessions.of(params), path.real(params.path)
  local file = session and session.files[real]
  local buf = file and sessions.open_buffer(real)
  if not file or not buf then
    return nil
  end
  local items = require("claude-code.editor.diagnostics").items(buf)
  items = filter.counted(real, items, file.before)
  if file.edited then
    items = filter.new_since(items, file.edited)
  end
  return { settled = not pending.is_pending(buf), known = file.edited ~= nil, items = items }
end

---Will a language server report on the file once it has started or indexed?
local function is_busy(edited)
  return edited.is_attaching
    or vim.iter(edited.missing):any(function(missing)
      return missing.id ~= nil and pending.is_worth_waiting(missing.id)
    end)
end

---Claude wants to stop: sums up problems in files that the session has edited; nil if it has edited no file.
function M.summary(params)
  local session = sessions.of(params)
  if not session or next(session.files) == nil then
    sources.on_hook(params, "done")
    return nil
  end
  local options = require("claude-code.config").get().diagnostics
  local list, settled = sessions.edited_files(session)
  local problems = {}
  for _, edited in ipairs(list) do
    for _, item in ipairs(filter.counted(edited.path, edited.items, edited.file.before)) do
      problems[#problems + 1] = { path = edited.path, item = item }
    end
  end
  local counts, missing = filter.tally(problems), unreported(list)
  return {
    settled = settled,
    is_busy = vim.iter(list):any(is_busy),
    unknown = reasons_of(missing),
    session = (require("claude-code.sessions.label").by_conversation() or {})[session.id],
    may_block = options.block,
    timeout_ms = M.DEADLINE_MS,
    busy_timeout_ms = M.BUSY_DEADLINE_MS,
    retries = options.retries,
    blocked = session.blocks[params.prompt or ""] or 0,
    errors = counts[1],
    warnings = counts[2],
    others = counts[3] + counts[4],
    worst = filter.worst(problems, QUOTED),
  }
end

---Claude may not stop yet.
function M.blocked(params)
  sources.on_hook(params, "working")
  local session = sessions.of(params)
  if session and params.prompt then
    session.blocks[params.prompt] = (session.blocks[params.prompt] or 0) + 1
  end
end

---Claude may stop; later edits belong to its next turn.
function M.allowed(params)
  sources.on_hook(params, "done")
  local session = sessions.of(params)
  local unknown = session and leave(session, params.waited == true)
  return unknown and { unknown = unknown } or vim.empty_dict()
end

function M.problems(params)
  local session = sessions.of_server(params.session, params.pid)
  local list, settled = {}, true
  if session then
    list, settled = sessions.edited_files(session)
  end
  return {
    folders = require("claude-code.lib.workspace").folders(),
    files = vim.tbl_map(function(edited)
      return { path = edited.path, real = edited.path, items = edited.items }
    end, list),
    settled = settled,
    unknown = describe(list),
  }
end

---Collects problems that were found after Claude's turn, in files that it has not edited since. If several sessions
---run, chooses one with such problems, preferably the current one.
---@return claude-code.FileProblem[], integer? n of that session, if several run
function M.late_problems()
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
