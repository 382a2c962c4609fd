--- The Claude CLIs in terminals beside the editor. What a terminal is, the provider knows. Where no
--- session is named, the current one is meant.
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local start = require("claude-code.terminal.start")

local M = {}

---@class claude-code.TerminalOptions
---@field restart? boolean end a CLI that runs, and start another
---@field n? integer number of a session that runs

---@return boolean does any CLI run?
function M.is_open()
  return running.is_any_open()
end

--- Is its window known to be out of sight?
---@return boolean
function M.is_hidden()
  local n = running.current()
  return n ~= nil and running.is_hidden(n)
end

---@param n integer
local function focus(n)
  running.call(n, "focus")
  sessions.use(n)
end

--- Starts the CLI, or shows the one that runs and moves there.
---@param arguments? string[] for the CLI
---@param options? claude-code.TerminalOptions
function M.open(arguments, options)
  options = options or {}
  if start.is_waiting() then
    start.notify_if_downloading()
    return
  end
  local n = options.n or running.current()
  if n and not options.restart then
    focus(n)
    if arguments and #arguments > 0 then
      local text = "Claude is already running; add ! to restart it with these arguments"
      require("claude-code.messages.notify").warn(text)
    end
    return
  elseif n then
    running.close(n)
  end
  start.run(arguments or {}, n)
end

--- Starts the CLI, or hides it, or shows it again.
---@param arguments? string[] for the CLI, at its start
---@param options? claude-code.TerminalOptions
function M.toggle(arguments, options)
  options = options or {}
  local n = options.n or running.current()
  if not n or options.restart or #(arguments or {}) > 0 then
    return M.open(arguments, options)
  elseif running.can(n, "toggle") then
    running.call(n, "toggle")
    sessions.use(n)
  else
    focus(n)
  end
end

--- Moves to the CLI's terminal, starting it if need be.
function M.focus()
  local n = running.current()
  if n then
    focus(n)
  else
    M.open()
  end
end

--- Ends the CLI, or cancels its start.
---@return boolean ended false if none ran, nor was about to start
function M.close()
  if start.cancel() then
    return true
  end
  local n = running.current()
  if n then
    running.close(n)
  end
  return n ~= nil
end

--- Ends all, and cancels all starts.
function M.close_all()
  while M.close() do
  end
end

--- Pastes text into the prompt of the CLI in the terminal.
---@param text string
---@param options? { submit?: boolean }
---@return boolean sent false if no CLI runs there
function M.send(text, options)
  local n = running.current()
  if not n or running.call(n, "send", text) == false then
    return false
  end
  if options and options.submit then
    running.call(n, "submit")
  end
  return true
end

return M
