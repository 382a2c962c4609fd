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

--- How long Neovim's end waits for the executable's, which takes some 10 ms.
local LEAVE_MS = 150
local STOP_MS = 1500

local clients = require("claude-code.server.clients")
local events = require("claude-code.lib.events")
local exit_message = require("claude-code.server.exit_message")
local launch_line = require("claude-code.server.launch_line")
local lock_files = require("claude-code.server.lock_files")
local slow_start = require("claude-code.server.slow_start")
local waiting = require("claude-code.server.waiting")
local backoff = require("claude-code.server.backoff").new()
local has_been_ready = false
---@type (fun())?, (fun())?
local cancel_restart, on_gone
---@type fun()
local spawn

--- Forgets what held for the process that is gone. Its lock file goes too: a client that starts
--- now would find a dead port there, and not try again.
---@param reason "stopped"|"crashed"|"failed"
local function forget(reason)
  local was_ready = M.ready_since ~= nil
  slow_start.over()
  local gone = on_gone or function() end
  on_gone = nil
  gone()
  M.on_clients({})
  M.process, M.channel, M.version, M.ready_since = nil, nil, nil, nil
  lock_files.remove(M.lock_file)
  M.lock_file, M.rivals = nil, {}
  if was_ready then
    events.emit("ServerStopped", { port = M.port, reason = reason })
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
  waiting.answer(nil, message)
end

--- Only the executable knows its version, so the message waits for its answer.
local function fail_mismatch()
  local binary = M.binary --[[@as claude-code.Binary]]
  forget("failed")
  require("claude-code.install.executable").version(binary.path, function(version)
    if M.state == "starting" and M.binary == binary and not M.process then
      fail(exit_message.mismatch(binary, version))
    end
  end)
end

---@param process claude-code.Process
---@param code integer
---@param signal integer
local function on_exit(process, code, signal)
  if process ~= M.process then
    return -- we stopped it
  end
  local delay = backoff:next(vim.uv.hrtime() / 1e6, has_been_ready)
  local ending = {
    binary = M.binary,
    stderr = process.stderr,
    code = code,
    signal = signal,
    times = backoff:count(),
  }
  exit_message.log(ending)
  if code == exit_message.EXIT_CONTRACT then
    return fail_mismatch()
  elseif code == exit_message.EXIT_USAGE then
    return fail(exit_message.refused(ending))
  elseif not delay then
    return fail(exit_message.crash_loop(ending))
  end
  forget("crashed")
  M.state = "starting"
  cancel_restart = require("claude-code.lib.timer").once(delay, function()
    cancel_restart = nil
    spawn()
  end)
end

function spawn()
  local address, reason = require("claude-code.server.endpoint").address()
  if not address then
    return fail(exit_message.not_reachable(reason))
  end
  local process, message ---@type claude-code.Process?, string?
  process, message = require("claude-code.server.early_start").process({
    path = M.binary.path,
    args = { "serve" },
    address = address,
    on_exit = function(code, signal)
      on_exit(process, code, signal)
    end,
  })
  if not process then
    return fail(exit_message.not_spawned(M.binary, message --[[@as string]]))
  end
  M.process = process
  process:launch(launch_line.encode(M.binary.path, M.port, process.environment_changes))
  slow_start.watch(M.binary, function(warning)
    M.last_error = warning
  end)
  local info = require("claude-code.messages.log").info
  info("started %s serve (%s) as process %d", M.binary.path, M.binary.source, process.pid)
end

---@param binary claude-code.Binary
local function launch(binary)
  M.binary, M.port = binary, M.port or require("claude-code.server.endpoint").inherit()
  M.state = "starting"
  waiting.limit()
  local group = vim.api.nvim_create_augroup("claude-code.server", { clear = true })
  vim.api.nvim_create_autocmd("VimLeavePre", { group = group, callback = M.leave })
  spawn()
end

--- Starts the executable; does nothing while it runs or is being started. One that is missing is
--- downloaded if the options allow it.
---@param options? { allow_home?: boolean } allow_home: publish even the home folder
function M.start(options)
  if M.state ~= "stopped" and M.state ~= "failed" then
    return
  end
  require("claude-code.lib.workspace").allow_home((options or {}).allow_home == true)
  backoff, has_been_ready = require("claude-code.server.backoff").new(), false
  M.last_error, M.stopped_by_user = nil, nil
  M.state = "downloading"
  require("claude-code.install.on_demand").get(function(binary, message)
    if M.state ~= "downloading" then
      return -- stopped in the meantime, or started by another callback
    elseif not binary then
      return fail(message --[[@as string]])
    end
    launch(binary)
  end)
end

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
    callback(nil, "you stopped the server; :Claude start starts it again")
  elseif M.state == "failed" then
    callback(nil, M.last_error)
  else
    waiting.add(callback)
    if M.state == "starting" then
      waiting.limit()
    end
  end
end

--- The executable: the one that runs, or that would be started.
---@return string? path
---@return string? message
function M.executable()
  if M.binary then
    return M.binary.path
  end
  local binary, message = require("claude-code.install.locate").find()
  return binary and binary.path, message
end

--- Ends what runs. The executable notices by the end of its stdin.
---@return claude-code.Process? process that may still be ending
local function shut_down()
  if cancel_restart then
    cancel_restart()
    cancel_restart = nil
  end
  local process = M.process
  if process then
    process:hang_up()
  end
  forget("stopped")
  M.state = "stopped"
  require("claude-code.server.environment").restore()
  waiting.answer(nil, "the server was stopped")
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

--- Serves on another port, with another token. Not while a client is connected: it would be lost.
function M.change_port()
  if M.state == "ready" and #M.clients == 0 then
    M.stop()
    M.port, M.stopped_by_user = nil, nil
    launch(M.binary)
  end
end

--- Stops it because Neovim ends, which must not hang on it.
function M.leave()
  local lock_file = M.lock_file
  local process = shut_down()
  if process and not process:wait(LEAVE_MS) then
    process:kill()
    -- It may have written the file again in the meantime.
    lock_files.remove(lock_file)
  end
end

--- The executable has attached by RPC. `on_gone` is called once it is gone: Neovim reports no
--- closed channel.
---@param channel integer
---@param info? { version?: string, on_gone?: fun() }
function M.on_attach(channel, info)
  M.channel = channel
  M.version = info and info.version
  on_gone = info and info.on_gone
end

--- The executable accepts clients now.
---@param info claude-code.ReadyInfo
---@return true?
---@return string? message of what is wrong with `info`
function M.on_ready(info)
  if type(info.lock_file) ~= "string" or type(info.cli_arguments) ~= "table" then
    return nil, "the executable is of another build than the plugin: rebuild or update one of them"
  elseif M.state ~= "starting" and M.state ~= "ready" then
    return true -- stopped in the meantime
  end
  slow_start.over()
  require("claude-code.server.endpoint").on_ready(info)
  M.state, M.port, M.lock_file = "ready", info.port, info.lock_file
  M.cli_arguments, M.rivals = info.cli_arguments, info.rivals
  M.ready_since, M.last_error, has_been_ready = os.time(), info.problem, true
  require("claude-code.server.environment").apply(info.port)
  require("claude-code.messages.log").info("ready on port %d", info.port)
  if info.problem then
    require("claude-code.messages.notify").warn(exit_message.no_lock_file(info.problem))
  end
  events.emit("ServerStarted", { port = info.port, lock_file = info.lock_file })
  waiting.answer(true)
  return true
end

--- The lock file could not be written, or can be again.
---@param problem? string why there is none
function M.on_lock_problem(problem)
  M.last_error = problem
end

---@param rivals claude-code.Rival[]
function M.on_rivals(rivals)
  M.rivals = rivals
end

--- A client came, went or named itself.
---@param now claude-code.Client[] all that are connected now
function M.on_clients(now)
  local before = M.clients
  M.clients = now
  clients.emit_changes(before, now)
end

return M
