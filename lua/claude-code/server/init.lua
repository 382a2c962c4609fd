--- Runs the executable: starts it, starts it again when it ends by itself, stops it with Neovim.
--- Its fields tell how things stand, and are written here only.
---@class claude-code.Server
---@field state "stopped"|"starting"|"ready"|"failed"
---@field channel? integer the RPC channel by which the executable is reached
---@field version? string the executable's, once it has attached
---@field port? integer
---@field lock_file? string
---@field clients claude-code.Client[]
---@field binary? claude-code.Binary
---@field obtaining? boolean the executable is missing, and a download or the question before it runs
---@field process? claude-code.Process
---@field ready_since? integer time in seconds (os.time)
---@field last_error? string for a person
---@field stopped_by_hand? boolean and so only by hand, or by a command that needs it, started again
local M = { state = "stopped", clients = {} }

---@class claude-code.Client
---@field id integer|string
---@field name? string once it has said it
---@field version? string
---@field pid? integer

--- Neovim's end waits so long for the executable's, which takes some 10 ms.
local LEAVE_MS = 150
local STOP_MS = 1500

local backoff = require("claude-code.server.backoff").new()
local proven = false
---@type uv.uv_timer_t?
local restart_timer
---@type fun()?
local on_gone
---@type fun()
local spawn

---@param event "ServerStarted"|"ServerStopped"|"ClientConnected"|"ClientDisconnected"
---@param data table
local function emit(event, data)
  require("claude-code.events").emit(event, data)
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
  M.lock_file, M.obtaining = nil, nil
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
end

--- Only the executable knows its version, so the message waits for its answer.
local function fail_mismatch()
  local binary = M.binary --[[@as claude-code.Binary]]
  forget("failed")
  M.state = "failed"
  require("claude-code.install.locate").version(binary.path, function(version)
    if M.state == "failed" then
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

--- The port of before, which clients try again; not one that the options exclude by now.
---@param range { [1]: integer, [2]: integer }
---@return integer?
local function lasting_port(range)
  return M.port and M.port >= range[1] and M.port <= range[2] and M.port or nil
end

---@return string
local function launch_line()
  local contract, log = require("claude-code.server.contract"), require("claude-code.messages.log")
  local range = require("claude-code.config").get().port_range
  return vim.json.encode({
    contract = contract.number,
    version = contract.version,
    token = require("claude-code.server.endpoint").token(),
    pid = vim.uv.os_getpid(),
    port = lasting_port(range) or vim.NIL,
    portRange = { first = range[1], last = range[2] },
    workspaceFolders = require("claude-code.workspace").folders(),
    logFile = log.level() ~= "off" and log.path() or vim.NIL,
    logLevel = log.level() ~= "off" and log.level() or "error",
    options = require("claude-code.config").plain(),
  })
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
    line = launch_line(),
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

--- Gets the executable that is missing, if the options allow it, and goes on with it.
---@param message string what to say if they do not
---@param go_on fun()
local function obtain(message, go_on)
  M.state, M.obtaining = "starting", true
  require("claude-code.install.prompt").obtain(message, function(executable, failure)
    if M.state ~= "starting" or M.process then
      return -- stopped meanwhile, or started by another way
    end
    M.state, M.obtaining = "stopped", nil
    if executable then
      return go_on()
    end
    fail(failure --[[@as string]])
  end)
end

--- Starts the executable; does nothing while it runs or is being started.
---@param options? { asked?: boolean } asked: by the user, so that even the home folder is published
function M.start(options)
  if M.state == "starting" or M.state == "ready" then
    return
  end
  require("claude-code.workspace").allow_wide(options ~= nil and options.asked == true)
  backoff, proven = require("claude-code.server.backoff").new(), false
  M.last_error, M.stopped_by_hand = nil, nil
  local binary, message = require("claude-code.install.locate").find()
  if not binary and require("claude-code.install").permission() == "no" then
    return fail(message --[[@as string]])
  elseif not binary then
    return obtain(message --[[@as string]], function()
      M.start(options)
    end)
  end
  M.binary = binary
  M.state = "starting"
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("claude-code.server", { clear = true }),
    callback = M.leave,
  })
  spawn()
end

--- Ends what runs. The executable is told by the end of its stdin.
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
  return process
end

--- Stops the executable because the user wants it, without waiting for its end.
function M.stop()
  local process = shut_down()
  M.stopped_by_hand = true
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

--- The executable accepts clients now. `problem` says why there is no lock file, in a sentence.
---@param info { port: integer, lockFile: string, problem?: string }
function M.on_ready(info)
  if M.state ~= "starting" and M.state ~= "ready" then
    return -- stopped meanwhile
  end
  M.state, M.port, M.lock_file = "ready", info.port, info.lockFile
  M.ready_since, M.last_error = os.time(), info.problem
  proven = true
  require("claude-code.server.environment").apply(info.port)
  require("claude-code.messages.log").info("ready on port %d", info.port)
  if info.problem then
    -- The token stands in that file alone, so that the port in a terminal's environment is no help.
    local rest = "; until it can be, which is tried every few seconds, no Claude CLI connects"
    require("claude-code.messages.notify").warn(info.problem .. rest)
  end
  emit("ServerStarted", { port = info.port, lock_file = info.lockFile })
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
