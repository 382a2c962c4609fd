--- The Claude CLI in a terminal beside the editor. What a terminal is, the provider knows.
local M = {}

--- How long a terminal waits for a server that is starting: the CLI looks for its editor once.
local READY_MS = 3000
local POLL_MS = 10

---@type uv.uv_timer_t? set while a terminal waits
local waiting

---@return claude-code.TerminalProvider
local function provider()
  return require("claude-code.terminal.provider").current()
end

--- Calls a provider, which may be a user's, and says what went wrong.
---@param name "open"|"close"|"send"|"is_open"|"toggle"|"focus"|"submit"
---@param ... any
---@return any value false or nil if it failed
local function call(name, ...)
  local run = provider()[name]
  if not run then
    return nil
  end
  local ok, value, message = pcall(run, ...)
  local notify = require("claude-code.notify")
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

--- Runs `callback` as soon as the server is there, and also if it does not come: the CLI is useful
--- without an editor, too.
---@param callback fun()
local function once_ready(callback)
  local server = require("claude-code.server")
  if server.state == "stopped" then
    require("claude-code.autostart").disarm()
    server.start()
  end
  if server.state ~= "starting" then
    return callback()
  end
  local deadline = vim.uv.now() + READY_MS
  local timer = assert(vim.uv.new_timer())
  waiting = timer
  timer:start(
    POLL_MS,
    POLL_MS,
    vim.schedule_wrap(function()
      if waiting == timer and (server.state ~= "starting" or vim.uv.now() > deadline) then
        waiting = nil
        timer:close()
        callback()
      end
    end)
  )
end

---@param arguments string[]
local function start(arguments)
  local launch = require("claude-code.terminal.launch")
  local command, message = launch.command(arguments)
  if not command then
    require("claude-code.notify").error(message --[[@as string]])
    return
  end
  once_ready(function()
    call("open", command, launch.environment())
  end)
end

---@class claude-code.TerminalOptions
---@field restart? boolean end a CLI that runs, and start anew

--- Starts the CLI, or shows the one that runs and moves there.
---@param arguments? string[] for the CLI
---@param options? claude-code.TerminalOptions
function M.open(arguments, options)
  if waiting then
    return
  end
  if M.is_open() then
    if not (options and options.restart) then
      M.focus()
      if arguments and #arguments > 0 then
        local text = "Claude runs already: arguments count at its start only; with ! it starts anew"
        require("claude-code.notify").warn(text)
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

--- Ends the CLI.
function M.close()
  call("close")
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
