--- Starts the executable, restarts it after a crash, and stops it with Neovim. Only this file sets its fields.
---@class claude-code.Server
---@field state claude-code.ServerState
---@field version? string of the executable, after it attached
---@field port? integer
---@field lock_file? string
---@field clients claude-code.Client[]
---@field plugin? string folder of the plugin for Claude Code
---@field plugin_without_mod? string
---@field plugin_problem? string why there is none
---@field no_mod? string why no mod can connect
---@field binary? claude-code.Binary
---@field process? claude-code.Process
---@field ready_since? integer time in seconds (os.time)
---@field last_error? string for the user
---@field stopped_by_user? boolean keeps auto_start and mentions from starting the server
local M = { state = "stopped", clients = {} }

---@class claude-code.Client
---@field id integer|string
---@field name? string nil until it sends it
---@field version? string
---@field pid? integer
---@field place? claude-code.ProcessPlace
---@field remote? string name of the remote where it runs

--- "starting": the executable runs, or is about to restart, and does not accept clients yet.
--- "failed": start() tries again.
---@alias claude-code.ServerState "stopped"|"downloading"|"starting"|"ready"|"failed"

--- Neovim's exit waits this long for the executable, which takes about 10 ms on an idle machine.
local LEAVE_MS = 1000
local STOP_MS = 1500
--- The CLI waits this long for the server. After that it starts without an editor, and does not look again.
local LIMIT_MS = 3000
--- Pauses before restarts after crashes. The Claude CLI tries to reconnect for about 17 s.
local DELAYS_MS = { 0, 250, 1000, 2000, 4000 }
--- More crashes than pauses within this time are a failure.
local WINDOW_MS = 60 * 1000

local endpoint = require("claude-code.server.endpoint")
local events = require("claude-code.lib.events")
local processes = require("claude-code.server.process")
local timer = require("claude-code.lib.timer")

---@class claude-code.ServerRun restarts included
---@field ends number[] times of crashes, in ms
---@field has_been_ready? boolean
---@field cancels table<"restart"|"limit", fun()> running timers

local run = { ends = {}, cancels = {} } ---@type claude-code.ServerRun
local spawn ---@type fun()

---@alias claude-code.ReadyCallback fun(ready: boolean?, message: string?)

local waiting = {} ---@type claude-code.ReadyCallback[]

---@param name "restart"|"limit"
local function cancel(name)
  if run.cancels[name] then
    run.cancels[name]()
    run.cancels[name] = nil
  end
end

local function answer(ready, message)
  cancel("limit")
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(ready, message)
  end
end

--- An executable may hang.
local function limit()
  run.cancels.limit = run.cancels.limit
    or timer.once(LIMIT_MS, function()
      M.last_error = processes.not_ready(M.binary, LIMIT_MS / 1000)
      answer(nil, M.last_error)
    end)
end

--- Resets the state of the process that has ended. A CLI that finds its lock file would try the closed port only once,
--- so this removes the file.
local function forget(reason)
  local was_ready = M.ready_since ~= nil
  -- Neovim has no event for a closed channel.
  require("claude-code.server.channel").detach()
  M.on_clients({})
  M.process, M.version, M.ready_since = nil, nil, nil
  endpoint.remove_lock_file(M.lock_file)
  M.lock_file = nil
  if was_ready then
    events.emit("ServerStopped", { port = M.port, reason = reason })
  end
end

local function fail(message)
  forget("failed")
  M.state = "failed"
  M.last_error = message
  endpoint.restore_environment()
  require("claude-code.messages.notify").error(message)
  answer(nil, message)
end

---@return integer? ms until the restart; nil if it was never ready (wrong platform, missing library), or crashes often
local function next_delay()
  local now = vim.uv.now()
  run.ends = vim.tbl_filter(function(at)
    return now - at < WINDOW_MS
  end, run.ends)
  table.insert(run.ends, now)
  return run.has_been_ready and DELAYS_MS[#run.ends] or nil
end

local function on_exit(process)
  if process ~= M.process then
    return -- we stopped it
  end
  local delay = next_delay()
  process:log_end()
  local failure = process:mismatch() or not delay and process:crash()
  if failure then
    return fail(failure)
  end
  forget("crashed")
  M.state = "starting"
  run.cancels.restart = timer.once(delay, spawn)
end

function spawn()
  local address, reason = endpoint.address()
  if not address then
    local text = "Neovim could not open an RPC socket: make sure that $XDG_RUNTIME_DIR or $TMPDIR "
      .. "names a folder with a short path, then restart Neovim (%s)"
    return fail(text:format(reason))
  end
  local process, message ---@type claude-code.Process?, string?
  process, message = processes.spawn(M.binary, address, function()
    on_exit(process)
  end)
  if not process then
    return fail(message)
  end
  M.process = process
  process:launch(endpoint.launch_line(M.binary.path, M.port))
  local info = require("claude-code.messages.log").info
  info("started %s serve (%s) as process %d", M.binary.path, M.binary.source, process.pid)
end

local function launch(binary)
  M.binary = binary
  M.state = "starting"
  limit()
  require("claude-code.lib.autocommands").new("server"):on("VimLeavePre", M.leave)
  spawn()
end

--- Starts the executable unless it runs or is starting. Downloads a missing one if the options allow it.
---@param options? { allow_home?: boolean } publish even the home folder
function M.start(options)
  if M.state ~= "stopped" and M.state ~= "failed" then
    return
  end
  require("claude-code.lib.workspace").allow_home((options or {}).allow_home == true)
  cancel("limit")
  run = { ends = {}, cancels = {} }
  M.last_error, M.stopped_by_user = nil, nil
  M.state = "downloading"
  require("claude-code.install").get(function(binary, message)
    if M.state ~= "downloading" then
      return -- stopped since, or started by another callback
    elseif not binary then
      return fail(message --[[@as string]])
    end
    launch(binary)
  end)
end

--- Starts the server if it is stopped. Calls back with true when it accepts clients, or with nil and a message: at once
--- if the result is known, otherwise within three seconds after the executable's start, which a download may delay.
---@param options? { is_wanted?: boolean } start it even if the user stopped it, or it failed
---@param callback? claude-code.ReadyCallback
function M.ensure(options, callback)
  callback = callback or function() end
  local is_wanted = options ~= nil and options.is_wanted == true
  local is_installing = M.state == "failed" and require("claude-code.install").is_running()
  local may_start = M.state == "stopped" and not M.stopped_by_user or is_installing
  if may_start or is_wanted and (M.state == "stopped" or M.state == "failed") then
    M.start()
  end
  if M.state == "ready" then
    callback(true)
  elseif M.state == "stopped" then
    callback(nil, "you stopped the server; :Claude starts it again")
  elseif M.state == "failed" then
    callback(nil, M.last_error)
  else
    table.insert(waiting, callback)
    if M.state == "starting" then
      limit()
    end
  end
end

---@return string? path of the executable that runs, or would be started
---@return string? message
function M.executable()
  if M.binary then
    return M.binary.path
  end
  local binary, message = require("claude-code.install").find()
  return binary and binary.path, message
end

---@return claude-code.Process? process that may not have ended yet
local function shut_down()
  cancel("restart")
  local process = M.process
  if process then
    process:hang_up()
  end
  forget("stopped")
  M.state = "stopped"
  endpoint.restore_environment()
  answer(nil, "the server was stopped")
  return process
end

--- Stops the executable because the user wants that, and does not wait for its end.
function M.stop()
  local process = shut_down()
  M.stopped_by_user = true
  if process then
    timer.once(STOP_MS, function()
      process:kill()
    end)
  end
end

--- Stops the executable before Neovim exits.
function M.leave()
  local lock_file = M.lock_file
  local process = shut_down()
  if process and not process:wait(LEAVE_MS) then
    process:kill()
    -- The executable may have written the file again.
    endpoint.remove_lock_file(lock_file)
  end
end

---@param version? string of the executable
function M.on_attach(version)
  M.version = version
end

--- The executable accepts clients.
---@param info claude-code.ReadyInfo
function M.on_ready(info)
  if M.state ~= "starting" and M.state ~= "ready" then
    return -- stopped since
  end
  if info.uses_next_token then
    endpoint.renew()
  end
  M.state, M.port, M.lock_file = "ready", info.port, info.lock_file
  M.plugin, M.plugin_without_mod, M.no_mod = info.plugin, info.plugin_without_mod, info.no_mod
  M.plugin_problem = info.plugin_problem
  M.ready_since, M.last_error, run.has_been_ready = os.time(), info.problem, true
  endpoint.set_environment(info.port)
  require("claude-code.messages.log").info("ready on port %d", info.port)
  if info.problem then
    local text = info.problem
      .. "; Claude cannot connect until a later attempt to write it succeeds"
    require("claude-code.messages.notify").warn(text)
  end
  if info.plugin_problem then
    require("claude-code.messages.notify").warn(info.plugin_problem)
  end
  events.emit("ServerStarted", { port = info.port, lock_file = info.lock_file })
  answer(true)
end

---@param params { problem?: string } why the lock file is missing; nil once it exists
function M.on_lock_problem(params)
  M.last_error = params.problem
end

---@return table<any, claude-code.Client> clients with a name, by id
local function named(clients)
  local result = {}
  for _, client in ipairs(clients) do
    if client.name then
      result[client.id] = client
    end
  end
  return result
end

--- A client connected, disconnected or sent its name.
---@param now claude-code.Client[] all connected clients
function M.on_clients(now)
  local old, new = named(M.clients), named(now)
  M.clients = now
  for id, client in pairs(old) do
    if not new[id] then
      events.emit("ClientDisconnected", client)
    end
  end
  for id, client in pairs(new) do
    if not old[id] then
      events.emit("ClientConnected", client)
    end
  end
end

return M
