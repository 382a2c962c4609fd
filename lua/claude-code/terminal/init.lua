--- The Claude CLI in a terminal beside the editor. What a terminal is, the provider knows.
local M = {}

---@type table? the start that waits for the server
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
    notify.error(("%s() of the terminal's provider failed: %s"):format(name, value))
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

--- Runs `callback` in normal mode: the terminal takes the cursor, so not from a user who types.
---@param callback fun()
local function in_normal_mode(callback)
  if vim.api.nvim_get_mode().mode == "n" then
    return callback()
  end
  require("claude-code.editor.windows.blocked").retry(function()
    in_normal_mode(callback)
  end)
end

local function notify_downloading()
  require("claude-code.messages.notify").info("Claude starts once the executable is there")
end

--- Runs `callback` once the server is ready, and also if it fails: the CLI is useful without an
--- editor, too.
---@param callback fun()
local function after_server(callback)
  local this, was_downloading = {}, false
  local function finish()
    if waiting == this then
      waiting = nil
      callback()
    end
  end
  waiting = this
  local server = require("claude-code.server")
  server.ensure({ after_stop = true }, function()
    if was_downloading then
      in_normal_mode(finish)
    else
      finish()
    end
  end)
  if waiting == this and server.state == "downloading" then
    was_downloading = true
    notify_downloading()
  end
end

--- The command line and the environment name the server and its executable, so they are made when
--- both are there.
---@param arguments string[]
local function open(arguments)
  local launch, notify =
    require("claude-code.terminal.launch"), require("claude-code.messages.notify")
  local command, message = launch.command(arguments)
  local folder
  if command then
    folder, message = launch.folder()
  end
  if not folder then
    return notify.error(message --[[@as string]])
  end
  call("open", command, launch.environment(), folder)
  if not M.is_open() then
    return
  end
  require("claude-code.editor.documents.auto_reload").set("terminal", M.is_open)
  if require("claude-code.server").state ~= "ready" then
    notify.warn("Claude started without a connection to Neovim; :ClaudeCodeStatus shows why")
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
  after_server(function()
    open(arguments)
  end)
end

---@class claude-code.TerminalOptions
---@field restart? boolean end a CLI that runs, and start another

--- Starts the CLI, or shows the one that runs and moves there.
---@param arguments? string[] for the CLI
---@param options? claude-code.TerminalOptions
function M.open(arguments, options)
  if waiting then
    if require("claude-code.server").state == "downloading" then
      notify_downloading()
    end
    return
  end
  if M.is_open() then
    if not (options and options.restart) then
      M.focus()
      if arguments and #arguments > 0 then
        local text = "Claude is already running; add ! to restart it with these arguments"
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

--- Ends the CLI, or cancels its start.
---@return boolean ended false if none ran, nor was about to start
function M.close()
  local ended = waiting ~= nil or M.is_open()
  waiting = nil
  call("close")
  require("claude-code.editor.documents.auto_reload").set("terminal", nil)
  return ended
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
