--- The sources of the rows: terminals, the files of running CLIs, the server's clients, and hooks.
local cli_files = require("claude-code.sessions.cli_files")
local process = require("claude-code.programs.process")
local rows = require("claude-code.sessions.rows")
local worktrees = require("claude-code.sessions.worktrees")

local M = {}

--- `listed`: the processes of CLIs that have a file (those without -p, of a version that writes one).
---@class claude-code.FollowedSources
---@field is_started? boolean
---@field cancel_watch? fun()
---@field listed table<integer, true>
local following = { listed = {} }

---@param place claude-code.ProcessPlace of a CLI
---@param buf? integer the terminal of this Neovim in which it runs
---@return integer? n of the session whose terminal it is
local function own_session(place, buf)
  for _, row in ipairs(rows.list()) do
    -- Behind npx or direnv the terminal's process is another one than the CLI's.
    if row.n and (row.buf == (buf or 0) or vim.list_contains(place.ancestors, row.pid)) then
      return row.n
    end
  end
end

---Adds a session that this Neovim did not start, unless its row is known.
---@param key claude-code.SessionKey gets the number of a row that turns out to be the session's
---@param fields table of claude-code.SessionRow
local function add(key, fields)
  if rows.get(key) then
    return
  elseif key.pid and not fields.where then
    local place = process.place(key.pid)
    local buf = process.terminal(place.ancestors)
    key.n = own_session(place, buf)
    fields.where, fields.buf = place.where, not key.n and buf or nil
  end
  if not rows.get(key) then
    rows.add_elsewhere(key, fields)
  end
end

--- The file of a CLI is gone, or its process.
local function forget(pid)
  if not following.listed[pid] then
    return
  end
  following.listed[pid] = nil
  local row = rows.get({ pid = pid })
  -- The end of one in our own terminal is seen there.
  if row and not row.n then
    rows.remove({ pid = pid })
  elseif row and row.job then
    rows.set({ n = row.n }, { pid = vim.NIL })
  end
end

--- The process id of another machine or container names none of here.
local function is_running(entry)
  local is_foreign = entry.domain ~= nil and entry.domain ~= process.domain()
  return not is_foreign and process.is_alive(entry.pid, entry.start)
end

local function on_entry(entry)
  local key = { pid = entry.pid, id = entry.id, job = entry.job }
  following.listed[entry.pid] = true
  if not rows.get(key) then
    if not worktrees.is_covered(entry.cwd) then
      return
    end
    add(key, { where = entry.is_background and "background" or nil })
  end
  local fields = { name = entry.name or vim.NIL, cwd = entry.cwd }
  fields.where = key.job and "background" or nil
  local row = rows.get(key)
  if row and row.cwd ~= entry.cwd then
    local worktree = worktrees.at(entry.cwd)
    fields.worktree, fields.branch = worktree.name or vim.NIL, worktree.branch or vim.NIL
  end
  rows.report(key, "registry", entry.report, fields)
end

local function read(pid)
  local entry, is_gone = cli_files.read(pid)
  if is_gone or (entry and not is_running(entry)) then
    forget(pid)
  elseif entry then
    on_entry(entry)
  end
end

---Reads what the CLI with this process says in its file, in the main loop.
---@type fun(pid: integer)
M.read = vim.schedule_wrap(read)

--- Reads the files of all CLIs, and watches their folder from when there is one. The one that was
--- watched may have been deleted.
---@param callback? fun() in the main loop, once all are read
function M.refresh(callback)
  if following.cancel_watch then
    following.cancel_watch()
  end
  following.cancel_watch = cli_files.watch(function(pid)
    if pid then
      read(pid)
    else
      M.refresh()
    end
  end)
  vim.schedule(function()
    vim.iter(cli_files.pids()):each(read)
    if callback then
      callback()
    end
  end)
end

---Removes the rows of processes that have ended without a word.
function M.prune()
  for _, row in ipairs(rows.list()) do
    -- The end of one in Neovim's own terminal is seen there.
    local is_seen = row.n and row.buf
    if row.pid and not is_seen and not process.is_alive(row.pid) then
      rows.remove({ pid = row.pid })
    end
  end
end

---Follows all sources, from the first call on.
function M.start()
  if not following.is_started then
    following.is_started = true
    local attention = require("claude-code.sessions.attention")
    local group = require("claude-code.lib.autocommands").new("sessions")
    group:on("User", function(_, args)
      attention.notice(args.data)
      require("claude-code.sessions.summary").emit()
      require("claude-code.sessions.transcripts").watch()
    end, { pattern = "ClaudeCodeSession*" })
    attention.watch()
    require("claude-code.sessions.transcripts").watch()
  end
  -- A CLI that is about to start may be the first of all.
  if not following.cancel_watch then
    M.refresh()
  end
end

---@param pid integer of a CLI that has connected
local function connect(pid)
  M.start()
  local key = { pid = pid }
  add(key, {})
  rows.report(key, "hook", nil, { attached = true, connected = true })
  M.read(pid)
end

---Of a CLI in a remote no process is known: each session there has one, the first ones first.
---@param clients claude-code.Client[] all that are connected now
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

---@class claude-code.HookParams what every hook sends
---@field session string the session's id
---@field pid? integer the CLI's; older ones do not send it
---@field n? integer the number of the session's row, which the CLI has inherited
---@field cwd? string

---A hook reports.
---@param params claude-code.HookParams
---@param now "working"|"idle"|"done"
function M.on_hook(params, now)
  local key = { n = params.n, pid = params.pid, id = params.session }
  if not key.pid and not key.n then
    return
  end
  M.start()
  if key.pid then
    add(key, { cwd = params.cwd })
  end
  rows.report(key, "hook", { state = now }, { attached = true })
end

---The SessionEnd hook: the CLI ends, or goes on with another conversation.
---@param params claude-code.HookParams
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

---The clients of the server.
---@param clients claude-code.Client[] all that are connected now
function M.clients(clients)
  connect_remotes(clients)
  local connected = {}
  for _, client in ipairs(clients) do
    if client.pid and client.name == "claude-code" then
      connected[client.pid] = true
      if not (rows.get({ pid = client.pid }) or {}).connected then
        connect(client.pid)
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
  -- One that was killed said nothing else.
  M.prune()
end

return M
