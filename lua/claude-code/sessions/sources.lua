--- Fills the rows from four sources: terminals, the CLIs' files (which the executable reads), the server's clients, and
--- hooks.
local channel = require("claude-code.server.channel")
local programs = require("claude-code.programs")
local rows = require("claude-code.sessions.rows")

local M = {}

local MAX_NAME = 80

---@class claude-code.ProcessPlace
---@field where "here"|"neovim"|"outside"
---@field ancestors integer[] the process itself first

---@class claude-code.RunningSession: claude-code.ProcessPlace from its CLI's file
---@field pid integer
---@field id? string
---@field job? string id of a background session for `claude attach`
---@field name? string
---@field cwd string absolute
---@field worktree? string
---@field branch? string
---@field state? claude-code.SessionState nil at its start
---@field kind? claude-code.BlockedKind
---@field mod? true
---@field usage? table
---@field tasks? table
---@field is_background boolean
---@field is_covered boolean in the workspace, or in a work tree of its repositories

---@class claude-code.Worktree
---@field path string real
---@field name? string nil for the main one
---@field branch? string

---@class claude-code.SessionsReport from the executable
---@field sessions claude-code.RunningSession[]
---@field repositories claude-code.Worktree[][] of the workspace, each with its main work tree first
---@field remote_mods { remote: string, session: string, mod: true, usage?: table, tasks?: table }[]

---@class claude-code.FolderSetup from the settings files that a CLI reads in a folder
---@field folder? string
---@field off? string file and setting that turn hooks off
---@field forbids_plugin? true the CLI would refuse to start with the plugin

local setups = {} ---@type claude-code.FolderSetup[] of the workspace folders

---@type claude-code.SessionsReport its sessions by their process ids
local reported = { sessions = {}, repositories = {}, remote_mods = {} }

local is_started = false
local activity ---@type claude-code.Activity? in the last event

---@return integer? buf terminal of this Neovim in which a process runs; the user may have opened it
local function terminal_of(ancestors)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buf)
    return vim.list_contains(ancestors, vim.b[buf].terminal_job_pid)
  end)
end

---@param buf? integer terminal of this Neovim in which the CLI runs
---@return integer? n
local function own_session(ancestors, buf)
  for _, row in ipairs(rows.list()) do
    -- With npx or direnv the terminal's process is not the CLI's.
    if row.n and (row.buf == (buf or 0) or vim.list_contains(ancestors, row.pid)) then
      return row.n
    end
  end
end

---Adds a session that this Neovim did not start, unless it has a row.
---@param key claude-code.SessionKey receives the number of a row that the place identifies
local function add(key, place)
  if not rows.get(key) then
    local buf = terminal_of(place.ancestors)
    key.n = own_session(place.ancestors, buf)
    rows.add_elsewhere(key, { where = place.where, buf = not key.n and buf or nil })
  end
end

local function forget(session)
  local row = rows.get({ pid = session.pid })
  -- This Neovim's terminals report their end.
  if row and not row.n then
    rows.remove({ pid = session.pid })
  elseif row then
    local fields = { mod = vim.NIL, usage = vim.NIL, tasks = vim.NIL }
    fields.pid = row.job and vim.NIL
    rows.set({ n = row.n }, fields)
  end
end

local function apply(session)
  local key = { pid = session.pid, id = session.id, job = session.job }
  if not rows.get(key) and not session.is_covered then
    return
  elseif session.is_background then
    rows.add_elsewhere(key, { where = "background" })
  else
    add(key, session)
  end
  local name = require("claude-code.lib.text").one_line(session.name, MAX_NAME)
  local fields = { name = name or vim.NIL, cwd = session.cwd, branch = session.branch or vim.NIL }
  for _, field in ipairs({ "mod", "usage", "tasks" }) do
    fields[field] = session[field] or vim.NIL
  end
  fields.where = key.job and "background" or nil
  if (rows.get(key) or {}).cwd ~= session.cwd then
    fields.worktree = session.worktree or vim.NIL
  end
  local report = session.state and { state = session.state, kind = session.kind }
  rows.report(key, "registry", report or nil, fields)
end

---Applies a CLI's last report again, after its row has lost another source.
function M.apply(pid)
  if reported.sessions[pid] then
    apply(reported.sessions[pid])
  end
end

--- No file here describes a session in a remote.
local function apply_remote_mods()
  for _, row in ipairs(rows.list()) do
    if row.remote then
      local found = vim.iter(reported.remote_mods):find(function(mod)
        return mod.remote == row.remote and mod.session == row.id
      end) or {}
      local fields = { mod = found.mod or vim.NIL, usage = found.usage or vim.NIL }
      fields.tasks = found.tasks or vim.NIL
      rows.set({ n = row.n }, fields)
    end
  end
end

---The executable has read the files of all CLIs.
function M.on_report(report)
  M.start()
  local before = reported.sessions
  reported = {
    sessions = {},
    repositories = report.repositories,
    remote_mods = report.remote_mods,
  }
  for _, session in ipairs(report.sessions) do
    reported.sessions[session.pid] = session
  end
  for pid, session in pairs(before) do
    if not reported.sessions[pid] then
      forget(session)
    end
  end
  vim.iter(report.sessions):each(apply)
  apply_remote_mods()
end

---Without the executable only this Neovim's terminals are known.
local function on_detach()
  M.on_report({ sessions = {}, repositories = {}, remote_mods = {} })
end

function M.on_setups(reported_setups)
  setups = reported_setups
end

---@return claude-code.FolderSetup? nil unless it is a workspace folder
function M.setup(folder)
  return vim.iter(setups):find(function(setup)
    return setup.folder == folder
  end)
end

---@return string[] why CLIs in the workspace run no hooks
function M.hooks_off()
  local off = {}
  for _, setup in ipairs(setups) do
    off[#off + 1] = setup.off
  end
  return off
end

---Lets the executable read the files of all CLIs again.
---@param callback fun(_: any, problem?: string) in the main loop, after the update of the rows
function M.refresh(callback)
  channel.request("sessions/look", {}, callback)
end

function M.is_below(path, folder)
  return path == folder or vim.startswith(path, folder:gsub("/?$", "/"))
end

---@return claude-code.Worktree? worktree around the folder, of a repository in the workspace
---@return claude-code.Worktree[] all worktrees of its repository
function M.worktree(folder)
  local around, all = nil, {} ---@type claude-code.Worktree?, claude-code.Worktree[]
  for _, worktrees in ipairs(reported.repositories) do
    for _, worktree in ipairs(worktrees) do
      local is_deeper = not around or #worktree.path > #around.path
      if is_deeper and M.is_below(folder, worktree.path) then
        around, all = worktree, worktrees
      end
    end
  end
  return around, all
end

---@return boolean in the workspace, or in a worktree of its repositories
function M.is_covered(cwd)
  return M.worktree(cwd) ~= nil
    or vim.iter(require("claude-code.lib.workspace").folders()):any(function(folder)
      return M.is_below(cwd, folder)
    end)
end

---Removes the rows of killed processes.
function M.prune()
  for _, row in ipairs(rows.list()) do
    local reports_end = row.n and row.buf
    if row.pid and not reports_end and not programs.is_alive(row.pid) then
      rows.remove({ pid = row.pid })
    end
  end
end

local function report_activity()
  local now = rows.activity()
  if now ~= activity then
    activity = now
    require("claude-code.lib.events").emit("ActivityChanged", { activity = now })
  end
end

function M.start()
  channel.on_detach(on_detach)
  if is_started then
    return
  end
  is_started = true
  local attention = require("claude-code.sessions.attention")
  local group = require("claude-code.lib.autocommands").new("sessions")
  group:on("User", function(_, args)
    attention.notice(args.data)
    report_activity()
    require("claude-code.sessions.transcripts").watch()
  end, { pattern = "ClaudeCodeSession*" })
  attention.watch()
  require("claude-code.sessions.transcripts").watch()
end

local function connect(client)
  M.start()
  local key = { pid = client.pid }
  add(key, client.place)
  rows.report(key, "hook", nil, { attached = true, connected = true })
  M.apply(client.pid)
end

---A remote's CLIs have unknown processes, so the remote's clients belong to the first sessions there.
---@param clients claude-code.Client[] all connected clients
local function connect_remotes(clients)
  local remotes = {}
  for _, client in ipairs(clients) do
    remotes[#remotes + 1] = client.name == "claude-code" and client.remote or nil
  end
  for _, row in ipairs(rows.list()) do
    local index = row.remote and vim.fn.index(remotes, row.remote) + 1
    if index and (row.connected or false) ~= (index > 0) then
      rows.set({ n = row.n }, { connected = index > 0 or vim.NIL })
    end
    table.remove(remotes, index and index > 0 and index or #remotes + 1)
  end
end

---@class claude-code.HookParams from every hook
---@field session string id
---@field pid? integer the CLI's; old versions do not send it
---@field n? integer number of the session, which the CLI inherited
---@field cwd? string

---Adds a hook's session, and finds out where it runs.
local function add_by_hook(key, cwd)
  rows.add_elsewhere(key, { cwd = cwd })
  channel.request("sessions/place", { pid = key.pid }, function(place)
    local buf = place and terminal_of(place.ancestors)
    local n = place and own_session(place.ancestors, buf)
    if n then
      rows.report({ n = n, pid = key.pid }, "hook")
    elseif place then
      rows.set({ pid = key.pid }, { where = place.where, buf = buf })
    end
  end)
end

---@param now "working"|"idle"|"done"
function M.on_hook(params, now)
  local key = { n = params.n, pid = params.pid, id = params.session }
  if not key.pid and not key.n then
    return
  end
  M.start()
  if key.pid and not rows.get(key) then
    add_by_hook(key, params.cwd)
  end
  rows.report(key, "hook", { state = now }, { attached = true })
  apply_remote_mods()
end

---The CLI exits, or continues with another conversation.
function M.on_last_hook(params)
  local key = { n = params.n, pid = params.pid, id = params.session }
  local row = rows.get(key)
  if not row or row.source == "terminal" or row.source == "registry" then
    return
  elseif row.n or row.connected then
    rows.report(key, "hook", {})
  else
    rows.remove(key)
  end
end

---@param clients claude-code.Client[] all connected clients
function M.clients(clients)
  connect_remotes(clients)
  local connected = {}
  for _, client in ipairs(clients) do
    if client.pid and client.name == "claude-code" then
      connected[client.pid] = true
      if not (rows.get({ pid = client.pid }) or {}).connected then
        connect(client)
      end
    end
  end
  for _, row in ipairs(rows.list()) do
    local is_known = row.n or row.source == "hook" or row.source == "registry"
    local has_ended = row.connected and not row.remote and not connected[row.pid]
    if has_ended and is_known then
      rows.set({ pid = row.pid }, { connected = vim.NIL })
    elseif has_ended then
      rows.remove({ pid = row.pid })
    end
  end
  -- A killed CLI sends no last report.
  M.prune()
end

return M
