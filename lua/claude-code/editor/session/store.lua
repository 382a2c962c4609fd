--- The Claude sessions whose hooks report to this Neovim. They are kept here, so that they outlive the
--- executable.
local uv = vim.uv
local auto_reload = require("claude-code.editor.documents.auto_reload")
local baseline = require("claude-code.editor.session.baseline")
local writes = require("claude-code.editor.diagnostics.writes")

---Sessions that ended without a hook (SIGKILL) are forgotten when there are more than these.
local MOST_SESSIONS = 50

local M = {}

---@class claude-code.Session
---@field id string
---@field installation string by which its hooks come; those of another one are ignored
---@field pid? integer the CLI's
---@field active number ms, when its last hook came
---@field files table<string, claude-code.SessionFile> by real path
---@field hidden table<integer, true> buffers that were loaded for it
---@field blocks table<string, integer> by prompt, how often it was blocked already

---@class claude-code.SessionFile
---@field before? claude-code.ProblemCounts as the session found it; nil: not known
---@field edited? claude-code.ProblemCounts as the last edit found it; nil: not known
---@field unchecked? true a turn ended before language servers had reported on it
---@field unknown? true … although a hook had waited for them
---@field late? true what is wrong in it was found after the turn

---@class claude-code.SessionParams : claude-code.HookParams
---@field installation string

---@type table<string, claude-code.Session>
local sessions = {}
---@type fun()?
local cancel_writes

local function watch()
  if not cancel_writes then
    cancel_writes = writes.follow()
    baseline.start()
    auto_reload.set("hooks", function()
      return true
    end)
  end
end

local function unwatch()
  if cancel_writes then
    cancel_writes()
    cancel_writes = nil
    baseline.stop()
    auto_reload.set("hooks", nil)
  end
end

---Deletes the buffers that were loaded for the session and are not used otherwise.
---@param session claude-code.Session
local function delete_hidden(session)
  for buf in pairs(session.hidden) do
    local is_shared = vim.iter(pairs(sessions)):any(function(_, other)
      return other.hidden[buf]
    end)
    if not is_shared then
      require("claude-code.editor.documents").unload_hidden(buf, true)
    end
  end
end

---@param session claude-code.Session
local function forget(session)
  sessions[session.id] = nil
  delete_hidden(session)
  if next(sessions) == nil then
    unwatch()
  end
end

---@return claude-code.Session[] the one whose hook came last first
function M.list()
  local list = vim.tbl_values(sessions)
  table.sort(list, function(a, b)
    return a.active > b.active
  end)
  return list
end

---The session of a hook; nil if the hooks of another installation report on it already.
---@param params claude-code.SessionParams
---@return claude-code.Session?
function M.of(params)
  local session = sessions[params.session]
  if session and session.installation ~= params.installation then
    return nil
  elseif not session then
    if vim.tbl_count(sessions) == MOST_SESSIONS then
      forget(M.list()[MOST_SESSIONS])
    end
    session = {
      id = params.session,
      installation = params.installation,
      files = {},
      hidden = {},
      blocks = {},
    }
    sessions[params.session] = session
  end
  watch()
  auto_reload.catch_up()
  session.active = uv.hrtime() / 1e6
  session.pid = params.pid or session.pid
  return session
end

---@param params claude-code.SessionParams
function M.finish(params)
  local session = sessions[params.session]
  if session and session.installation == params.installation then
    forget(session)
  end
end

---@param real string real path
---@return boolean has a session edited this file?
function M.has_edited(real)
  return vim.iter(pairs(sessions)):any(function(_, session)
    return session.files[real] ~= nil
  end)
end

---The session that a stdio server belongs to: by its id, by its CLI (whose session id changes with
---/clear), or, for a server that knows neither, the one whose hook came last.
---@param id? string
---@param pid? integer
---@return claude-code.Session?
function M.of_server(id, pid)
  return vim.iter(M.list()):find(function(session)
    return session.id == id or (pid ~= nil and session.pid == pid) or id == nil
  end)
end

return M
