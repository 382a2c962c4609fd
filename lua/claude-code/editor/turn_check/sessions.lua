--- Keeps the Claude sessions that report to this Neovim by hooks, and the files that each session has edited. This
--- state outlives the executable.
local uv = vim.uv
local auto_reload = require("claude-code.editor.documents.auto_reload")
local background = require("claude-code.editor.documents.background")
local diagnostics = require("claude-code.editor.diagnostics")
local filter = require("claude-code.editor.turn_check.filter")
local documents = require("claude-code.editor.documents")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")
local privacy = require("claude-code.editor.privacy")
local writes = require("claude-code.editor.diagnostics.writes")

---Limits sessions that have ended without a hook (SIGKILL).
local MAX_SESSIONS = 50

local M = {}

---@class claude-code.CheckedSession
---@field id string
---@field pid? integer of the CLI
---@field active number time of its last hook in ms
---@field files table<string, claude-code.SessionFile> by real path
---@field blocks table<string, integer> how often it was not allowed to stop, by prompt

---@class claude-code.SessionFile
---@field before? claude-code.ProblemCounts before the first edit; nil: unknown
---@field edited? claude-code.ProblemCounts before the last edit; nil: unknown
---@field unchecked? true a turn ended before language servers reported on the file
---@field late? true its problems were found after the turn

local sessions = {} ---@type table<string, claude-code.CheckedSession>
---Problems of files before another program last wrote to them, by real path.
local before = {} ---@type table<string, claude-code.ProblemCounts>
local cancel_writes ---@type fun()? nil: there is no session

---Counts problems before servers see the text of a reload.
local function on_write(buf, event)
  local name = event == "FileChangedShellPost" and path.of_buffer(buf)
  local real = name and path.real(name)
  -- If a report was still pending, the diagnostics are those from before an earlier edit, and so are our counts.
  if real and not (before[real] and pending.was_pending(buf)) then
    before[real] = filter.count(diagnostics.items(buf))
  end
end

local function forget(session)
  sessions[session.id] = nil
  background.release(session.id)
  if next(sessions) == nil and cancel_writes then
    cancel_writes()
    cancel_writes, before = nil, {}
    auto_reload.set("hooks", nil)
  end
end

---@return claude-code.CheckedSession[] the one with the latest hook first
function M.list()
  local list = vim.tbl_values(sessions)
  table.sort(list, function(a, b)
    return a.active > b.active
  end)
  return list
end

---Finds or adds the session of a hook.
---@return claude-code.CheckedSession
function M.of(params)
  local id = params.session
  local session = sessions[id]
  if not session then
    if vim.tbl_count(sessions) == MAX_SESSIONS then
      forget(M.list()[MAX_SESSIONS])
    end
    session = { id = id, active = 0, files = {}, blocks = {} }
    sessions[id] = session
  end
  cancel_writes = cancel_writes or writes.follow(on_write)
  auto_reload.set("hooks", function()
    return true
  end)
  auto_reload.catch_up()
  session.active = uv.hrtime() / 1e6
  session.pid = params.pid or session.pid
  return session
end

function M.finish(params)
  local session = sessions[params.session]
  if session then
    forget(session)
  end
end

function M.has_edited(real)
  return vim.iter(pairs(sessions)):any(function(_, session)
    return session.files[real] ~= nil
  end)
end

---Finds the session of a stdio server by its id, or by the process of its CLI, since /clear changes the id. A server
---that knows neither gets the session with the latest hook.
---@return claude-code.CheckedSession?
function M.of_server(id, pid)
  return vim.iter(M.list()):find(function(session)
    return session.id == id or (pid ~= nil and session.pid == pid) or id == nil
  end)
end

local function show_to_servers(real, created)
  local open = path.loaded_buffer(real)
  if created or not open then
    -- A new file had no problems; the earlier problems of another file are unknown.
    before[real] = created and {} or nil
  end
  if not open then
    return (writes.load(real))
  end
  require("claude-code.editor.documents.reload").now({ path = real })
  if not vim.bo[open].modified then
    writes.did_save(open)
  end
  return open
end

---Notes an edit of the session, and shows it to the file's buffer and to language servers.
---@param real string real path
---@param created boolean the edit created the file
function M.edited(session, real, created)
  local buf = show_to_servers(real, created)
  if buf then
    background.own(buf, session.id)
  end
  local file = session.files[real] or { before = before[real] }
  file.edited = before[real]
  file.unchecked, file.late = nil, nil
  session.files[real] = file
end

---Does the file exist, and may Claude see it?
local function is_present(real)
  return not privacy.is_private(real) and uv.fs_stat(real) ~= nil
end

---@param real string real path
---@return integer? buf nil if the file is private, deleted or closed
function M.open_buffer(real)
  return is_present(real) and path.loaded_buffer(real) or nil
end

---@class claude-code.EditedFile
---@field path string
---@field items claude-code.Diagnostic[]
---@field file claude-code.SessionFile
---@field is_attaching boolean a language server may still be started for it
---@field is_pending boolean a language server may still report
---@field missing claude-code.MissingReport[]

local function describe(real, file, buf, was_open)
  documents.wake(buf)
  writes.expect_starting(buf)
  local is_attaching = writes.is_attaching(buf)
  return {
    path = real,
    items = diagnostics.items(buf),
    file = file,
    is_attaching = is_attaching,
    is_pending = not was_open or is_attaching or pending.is_pending(buf),
    missing = writes.missing(buf),
  }
end

---Loads files again that the user has closed, since they still have their problems.
---@return claude-code.EditedFile[] files sorted by path, without private and deleted ones
---@return boolean settled no report is pending, except on unchecked files
function M.edited_files(session)
  local list, settled = {}, true
  for real, file in pairs(session.files) do
    local open = M.open_buffer(real)
    local buf = open or (is_present(real) and writes.load(real)) or nil
    if buf then
      background.own(buf, session.id)
      local edited = describe(real, file, buf, open ~= nil)
      list[#list + 1] = edited
      settled = settled and (file.unchecked ~= nil or not edited.is_pending)
    end
  end
  return require("claude-code.lib.sort")(list, "path"), settled
end

return M
