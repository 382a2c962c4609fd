--- Runs the executable: starts it, starts it again when it ends by itself, stops it with Neovim.
--- Its fields are written here only.
---@class claude-code.Server
---@field state claude-code.ServerState
---@field channel? integer the RPC channel of the executable
---@field version? string the executable's, once it has attached
---@field port? integer
---@field lock_file? string
---@field clients claude-code.Client[]
---@field rivals claude-code.Rival[] other editors with an overlapping workspace
---@field cli_arguments? claude-code.CliArguments once it was ready
---@field binary? claude-code.Binary
---@field process? claude-code.Process
---@field ready_since? integer time in seconds (os.time)
---@field last_error? string for the user
---@field stopped_by_user? boolean then auto_start and mentions leave it stopped
local M = { state = "stopped", clients = {}, rivals = {} }

--- "downloading": the executable is missing; the user is asked, or it is fetched and installed.
--- "starting": the executable runs, or is about to run again, and accepts no clients yet.
--- "failed": only start() leads out of it.
---@alias claude-code.ServerState "stopped"|"downloading"|"starting"|"ready"|"failed"

---@class claude-code.Client
---@field id integer|string
---@field name? string once it has said it
---@field version? string
---@field pid? integer

--- How long Neovim's end waits for the executable's, which takes some 10 ms.
local LEAVE_MS = 150
local STOP_MS = 1500
--- How long ensure() waits for an executable that is there.
local READY_MS = 3000

local backoff = require("claude-code.server.backoff").new()
local proven = false
---@type uv.uv_timer_t?
local restart_timer
---@type fun()?
local on_gone
---@type fun()
local spawn
---@type claude-code.ReadyCallback[] of ensure()
local waiting = {}

---@param event "ServerStarted"|"ServerStopped"|"ClientConnected"|"ClientDisconnected"
---@param data table
local function emit(event, data)
  require("claude-code.events").emit(event, data)
end

---@param ready boolean?
---@param message? string
local function answer_waiting(ready, message)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(ready, message)
  end
end

--- From now on the start may take READY_MS; it goes on after that, but nobody waits for it.
---@param callbacks claude-code.ReadyCallback[]
local function limit_wait(callbacks)
  callbacks = vim.list_slice(callbacks)
  vim.defer_fn(function()
    for _, callback in ipairs(callbacks) do
      local index = vim.iter(ipairs(waiting)):find(function(_, other)
        return other == callback
      end)
      if index and M.state == "starting" then
        table.remove(waiting, index)
        callback(nil, ("the server is not ready after %d s"):format(READY_MS / 1000))
      end
    end
  end, READY_MS)
end

local function cancel_restart()
  if restart_timer then
    restart_timer:stop()
    restart_timer:close()
    restart_timer = nil
  end
end

--- Forgets what held for the process that is gone. Its lock file goes too: a client that starts
--- now would find a dead port there, and not try again.
---@param reason "stopped"|"crashed"|"failed"
local function forget(reason)
  local was_ready = M.ready_since ~= nil
  if on_gone then
    local gone = on_gone
    on_gone = nil
    gone()
  end
  M.on_clients({})
  M.process, M.channel, M.version, M.ready_since = nil, nil, nil, nil
  require("claude-code.server.lock_files").remove(
    require("claude-code.server.endpoint").token(),
    M.lock_file
  )
  M.lock_file, M.rivals = nil, {}
  if was_ready then
    emit("ServerStopped", { port = M.port, reason = reason })
  end
end

--- Ends in `failed`, where only start() leads out.
---@param message string
local function fail(message)
  forget("failed")
  M.state = "failed"
  M.last_error = message
  require("claude-code.server.environment").restore()
  require("claude-code.messages.notify").error(message)
  answer_waiting(nil, message)
end

--- Only the executable knows its version, so the message waits for its answer.
local function fail_mismatch()
  local binary = M.binary --[[@as claude-code.Binary]]
  forget("failed")
  require("claude-code.install.version").of(binary.path, function(version)
    if M.state == "starting" and M.binary == binary and not M.process then
      fail(require("claude-code.server.exit_message").mismatch(binary, version))
    end
  end)
end

---@param delay_ms integer
local function restart_in(delay_ms)
  M.state = "starting"
  cancel_restart()
  local timer
  timer = vim.defer_fn(function()
    -- A cancel may come when this is scheduled already.
    if restart_timer == timer then
      restart_timer = nil
      spawn()
    end
  end, delay_ms)
  restart_timer = timer
end

---@param ending claude-code.Ending
local function log_ending(ending)
  local failure, log =
    require("claude-code.server.exit_message"), require("claude-code.messages.log")
  log.warn("the executable ended by itself: %s", failure.cause(ending))
  for _, line in ipairs(ending.stderr) do
    log.warn("its stderr: %s", line)
  end
end

---@param process claude-code.Process
---@param code integer
---@param signal integer
local function on_exit(process, code, signal)
  if process ~= M.process then
    return -- we stopped it
  end
  local failure = require("claude-code.server.exit_message")
  local delay = backoff:next(vim.uv.hrtime() / 1e6, proven)
  local ending = {
    binary = M.binary,
    stderr = process.stderr,
    code = code,
    signal = signal,
    times = backoff:count(),
  }
  log_ending(ending)
  if code == failure.EXIT_CONTRACT then
    return fail_mismatch()
  elseif code == failure.EXIT_USAGE then
    return fail(failure.refused(ending))
  elseif not delay then
    return fail(failure.crash_loop(ending))
  end
  forget("crashed")
  restart_in(delay)
end

function spawn()
  local address, reason = require("claude-code.server.endpoint").address()
  if not address then
    return fail(require("claude-code.server.exit_message").not_reachable(reason))
  end
  local process, message
  process, message = require("claude-code.server.process").spawn({
    path = M.binary.path,
    args = { "serve" },
    line = require("claude-code.server.launch_line").encode(M.binary.path, M.port),
    address = address,
    on_exit = function(code, signal)
      on_exit(process, code, signal)
    end,
  })
  if not process then
    return fail(
      require("claude-code.server.exit_message").not_spawned(M.binary, message --[[@as string]])
    )
  end
  M.process = process
  local text = "started %s serve (%s) as process %d"
  require("claude-code.messages.log").info(text, M.binary.path, M.binary.source, process.pid)
end

---@param binary claude-code.Binary
local function launch(binary)
  M.binary = binary
  M.state = "starting"
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("claude-code.server", { clear = true }),
    callback = M.leave,
  })
  spawn()
end

--- Gets the executable that is missing, and goes on with it.
---@param get fun(callback: fun(executable: string?, message: string?))
---@param missing string the message if the user does not want it
local function obtain(get, missing)
  M.state = "downloading"
  get(function(executable, failure)
    if M.state ~= "downloading" then
      return -- stopped in the meantime, or started in another way
    elseif not executable then
      return fail(failure or missing)
    end
    limit_wait(waiting)
    launch({ path = executable, source = "managed" })
  end)
end

--- Starts the executable; does nothing while it runs or is being started. One that is missing is
--- downloaded if the options allow it.
---@param options? { allow_home?: boolean, asked?: boolean } allow_home: publish even the home folder
function M.start(options)
  if M.state ~= "stopped" and M.state ~= "failed" then
    return
  end
  require("claude-code.workspace").allow_home(
    options ~= nil and (options.allow_home or options.asked) == true
  )
  backoff, proven = require("claude-code.server.backoff").new(), false
  M.last_error, M.stopped_by_user = nil, nil
  local binary, missing, release = require("claude-code.install.locate").find()
  local install = require("claude-code.install")
  if binary then
    launch(binary)
  elseif install.is_running() then
    obtain(function(callback)
      install.start({}, callback)
    end, missing --[[@as string]])
  elseif release then
    obtain(function(callback)
      require("claude-code.install.on_demand").download(release, callback)
    end, missing --[[@as string]])
  else
    fail(missing --[[@as string]])
  end
end

---@alias claude-code.ReadyCallback fun(ready: boolean?, message: string?)

--- Starts the server if it is stopped, and calls back, in the main loop: with true once it accepts
--- clients, or with nil and a message. At once if that is known; after a download, however long it
--- takes; at the latest three seconds after the executable was started.
---@param options? { after_stop?: boolean } after_stop: even if it was the user who stopped it
---@param callback? claude-code.ReadyCallback
function M.ensure(options, callback)
  callback = callback or function() end
  local may_start = not M.stopped_by_user or (options ~= nil and options.after_stop == true)
  local is_installing = M.state == "failed" and require("claude-code.install").is_running()
  if (M.state == "stopped" and may_start) or is_installing then
    M.start()
  end
  if M.state == "ready" then
    callback(true)
  elseif M.state == "stopped" then
    callback(nil, "you stopped the server: :ClaudeCodeStart starts it again")
  elseif M.state == "failed" then
    callback(nil, M.last_error)
  else
    table.insert(waiting, callback)
    if M.state == "starting" then
      limit_wait({ callback })
    end
  end
end

--- Ends what runs. The executable notices by the end of its stdin.
---@return claude-code.Process? process that may still be ending
local function shut_down()
  cancel_restart()
  local process = M.process
  if process then
    process:hang_up()
  end
  forget("stopped")
  M.state = "stopped"
  require("claude-code.server.environment").restore()
  answer_waiting(nil, "the server was stopped")
  return process
end

--- Stops the executable because the user wants it, without waiting for its end.
function M.stop()
  local process = shut_down()
  M.stopped_by_user = true
  if process then
    vim.defer_fn(function()
      process:kill()
    end, STOP_MS)
  end
end

--- Stops it because Neovim ends, which must not hang on it.
function M.leave()
  local lock_file = M.lock_file
  local process = shut_down()
  if process and not process:wait(LEAVE_MS) then
    process:kill()
    -- It may have written the file anew meanwhile.
    require("claude-code.server.lock_files").remove(
      require("claude-code.server.endpoint").token(),
      lock_file
    )
  end
end

--- The executable has attached by RPC. `on_gone` is called once it is gone: nothing else tells
--- Neovim that a channel has closed.
---@param channel integer
---@param info? { version?: string, on_gone?: fun() }
function M.on_attach(channel, info)
  M.channel = channel
  M.version = info and info.version
  on_gone = info and info.on_gone
end

---@class claude-code.Rival another editor that publishes an overlapping workspace
---@field pid integer
---@field name string its ideName
---@field folder string the overlapping folder

--- What the executable says once it is ready (ReadyInfo in src/neovim/editor.ts).
---@class claude-code.ReadyInfo
---@field port integer
---@field lock_file string
---@field problem? string why there is no lock file, in a sentence
---@field rivals claude-code.Rival[]
---@field cli_arguments claude-code.CliArguments

--- The executable accepts clients now.
---@param info claude-code.ReadyInfo
function M.on_ready(info)
  if M.state ~= "starting" and M.state ~= "ready" then
    return -- stopped meanwhile
  end
  M.state, M.port, M.lock_file = "ready", info.port, info.lock_file
  M.cli_arguments, M.rivals = info.cli_arguments, info.rivals
  M.ready_since, M.last_error = os.time(), info.problem
  proven = true
  require("claude-code.server.environment").apply(info.port)
  require("claude-code.messages.log").info("ready on port %d", info.port)
  if info.problem then
    -- The token stands in that file alone, so that the port in a terminal's environment is no help.
    local rest = "; until it can be, which is tried every few seconds, no Claude CLI connects"
    require("claude-code.messages.notify").warn(info.problem .. rest)
  end
  emit("ServerStarted", { port = info.port, lock_file = info.lock_file })
  answer_waiting(true)
end

---@param rivals claude-code.Rival[]
function M.on_rivals(rivals)
  M.rivals = rivals
end

---@param clients claude-code.Client[]
---@return table<any, claude-code.Client> those that have said their name, by id
local function named(clients)
  local result = {}
  for _, client in ipairs(clients) do
    if client.name then
      result[client.id] = client
    end
  end
  return result
end

--- A client came, went or said its name.
---@param clients claude-code.Client[] all that are connected now
function M.on_clients(clients)
  local before, after = named(M.clients), named(clients)
  M.clients = clients
  for id, client in pairs(before) do
    if not after[id] then
      emit("ClientDisconnected", client)
    end
  end
  for id, client in pairs(after) do
    if not before[id] then
      emit("ClientConnected", client)
    end
  end
end

return M
