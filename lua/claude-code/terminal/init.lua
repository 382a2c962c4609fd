--- The Claude CLI in a terminal beside the editor. What a terminal is, the provider knows.
local M = {}

--- How long a terminal waits for a server whose executable is there: the CLI looks for its editor
--- once.
local READY_MS = 3000
local POLL_MS = 10

---@type uv.uv_timer_t? set while a terminal waits
local waiting

---@return claude-code.TerminalProvider
local function provider()
  local option = require("claude-code.config").get().terminal.provider
  return require("claude-code.terminal.provider").get(option)
end

--- Calls a provider, which may be a user's, and reports what fails.
---@param name "open"|"close"|"send"|"is_open"|"is_visible"|"toggle"|"focus"|"submit"
---@param ... any
---@return any value false or nil if it failed
local function call(name, ...)
  local run = provider()[name]
  if not run then
    return nil
  end
  local ok, value, message = pcall(run, ...)
  local notify = require("claude-code.messages.notify")
  if not ok then
    notify.error(("the terminal's %s() failed: %s"):format(name, value))
    return nil
  elseif not value and message then
    notify.error(message)
  end
  return value
end

---@return boolean
function M.is_open()
  return call("is_open") == true
end

--- Is its window known to be out of sight?
---@return boolean
function M.is_hidden()
  return call("is_visible") == false
end

---@return boolean waited
local function stop_waiting()
  local timer = waiting
  waiting = nil
  if timer then
    timer:close()
  end
  return timer ~= nil
end

--- Whether the executable is still being got, which takes as long as a network and a person take.
---@return boolean
local function is_coming()
  return require("claude-code.server").state == "downloading"
end

local function say_waiting()
  require("claude-code.messages.notify").info("Claude starts once the executable is there")
end

--- Tells, asked again and again, when nothing is left to wait for. A download is waited for to its
--- end, and then for a person who types elsewhere to pause: the terminal takes the cursor.
---@return fun(): boolean is_over
local function new_wait()
  local server = require("claude-code.server")
  local deadline = vim.uv.now() + READY_MS
  local told = false
  return function()
    local wanted = server.state ~= "ready" and server.state ~= "stopped"
    if wanted and is_coming() then
      if not told then
        told = true
        say_waiting()
      end
      deadline = vim.uv.now() + READY_MS
      return false
    elseif server.state == "starting" and vim.uv.now() <= deadline then
      return false
    end
    return not told or vim.api.nvim_get_mode().mode == "n"
  end
end

--- Runs `callback` as soon as the server is there, and also if it does not come: the CLI is useful
--- without an editor, too.
---@param callback fun()
local function once_ready(callback)
  require("claude-code.server.autostart").on_demand()
  local is_over = new_wait()
  if is_over() then
    return callback()
  end
  local timer = assert(vim.uv.new_timer())
  waiting = timer
  timer:start(
    POLL_MS,
    POLL_MS,
    vim.schedule_wrap(function()
      if waiting == timer and is_over() then
        stop_waiting()
        callback()
      end
    end)
  )
end

--- The command line and the environment name the server and its executable, so they are made when
--- both are there.
---@param arguments string[]
local function open(arguments)
  local launch, notify =
    require("claude-code.terminal.launch"), require("claude-code.messages.notify")
  local command, message = launch.command(arguments)
  if not command then
    return notify.error(message --[[@as string]])
  end
  call("open", command, launch.environment())
  if M.is_open() and require("claude-code.server").state ~= "ready" then
    notify.warn("Claude starts unconnected: :ClaudeCodeStatus tells why")
  end
end

---@param arguments string[]
local function start(arguments)
  -- A CLI that is missing is no reason to wait.
  local found, message = require("claude-code.claude.cli").command()
  if not found then
    require("claude-code.messages.notify").error(message --[[@as string]])
    return
  end
  once_ready(function()
    open(arguments)
  end)
end

---@class claude-code.TerminalOptions
---@field restart? boolean end a CLI that runs, and start anew

--- Starts the CLI, or shows the one that runs and moves there.
---@param arguments? string[] for the CLI
---@param options? claude-code.TerminalOptions
function M.open(arguments, options)
  if waiting then
    if is_coming() then
      say_waiting()
    end
    return
  end
  if M.is_open() then
    if not (options and options.restart) then
      M.focus()
      if arguments and #arguments > 0 then
        local text = "Claude runs already: arguments count at its start only; with ! it starts anew"
        require("claude-code.messages.notify").warn(text)
      end
      return
    end
    call("close")
  end
  start(arguments or {})
end

--- Starts the CLI, or hides it, or shows it again.
---@param arguments? string[] for the CLI, at its start
---@param options? claude-code.TerminalOptions
function M.toggle(arguments, options)
  local simple = not options and #(arguments or {}) == 0
  if simple and M.is_open() then
    if provider().toggle then
      call("toggle")
    else
      M.focus()
    end
    return
  end
  M.open(arguments, options)
end

--- Moves to the CLI's terminal, starting it if need be.
function M.focus()
  if not M.is_open() then
    M.open()
  else
    call("focus")
  end
end

--- Ends the CLI, or calls its start off.
---@return boolean ended false if none ran, nor was about to start
function M.close()
  local there = stop_waiting() or M.is_open()
  call("close")
  return there
end

--- Pastes text into the prompt of the CLI in the terminal.
---@param text string
---@param options? { submit?: boolean }
---@return boolean sent false if no CLI runs there
function M.send(text, options)
  if not M.is_open() or call("send", text) == false then
    return false
  end
  if options and options.submit then
    call("submit")
  end
  return true
end

return M
