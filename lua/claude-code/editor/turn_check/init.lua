--- Reports problems to the hooks of a Claude CLI: those in files that the session has edited since Claude was last
--- allowed to stop.
local filter = require("claude-code.editor.turn_check.filter")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")
local servers = require("claude-code.editor.diagnostics.servers")
local sessions = require("claude-code.editor.turn_check.sessions")
local sources = require("claude-code.sessions.sources")
local unchecked = require("claude-code.editor.turn_check.unchecked")

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

---A file was edited.
function M.edited(params)
  sources.on_hook(params, "working")
  local session = sessions.of(params)
  if not session then
    return nil
  end
  sessions.edited(session, path.real(params.path), params.created == true)
  local options = require("claude-code.config").get().diagnostics
  local report = options.after_edit
  if report == "auto" then
    report = not is_connected(session.pid)
  end
  return { report = report, timeout_ms = M.AFTER_EDIT_MS }
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
      return missing.id ~= nil and servers.is_worth_waiting(missing.id)
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
  local counts, missing = filter.tally(problems), unchecked.missing(list)
  return {
    settled = settled,
    is_busy = vim.iter(list):any(is_busy),
    unknown = unchecked.reasons(missing),
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
  local unknown = session and unchecked.leave(session, params.waited == true)
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
    unknown = unchecked.describe(list),
  }
end

return M
