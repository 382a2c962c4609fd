--- Starts a CLI in a terminal, once the server is there that it connects to.
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")

local M = {}

---@type table[] the starts that wait for the server, the newest last
local waiting = {}

---@return boolean
function M.is_waiting()
  return #waiting > 0
end

--- Cancels the newest start that waits.
---@return boolean cancelled false if none waits
function M.cancel()
  return table.remove(waiting) ~= nil
end

--- Runs `callback` in normal mode: the terminal takes the cursor, so not from a user who types.
---@param callback fun()
local function in_normal_mode(callback)
  if vim.api.nvim_get_mode().mode == "n" then
    return callback()
  end
  require("claude-code.editor.input.blocked").retry(function()
    in_normal_mode(callback)
  end)
end

--- Reports that a start waits for the download, if that is so.
---@return boolean
function M.notify_if_downloading()
  if #waiting > 0 and require("claude-code.server").state == "downloading" then
    require("claude-code.messages.notify").info("Claude starts once the executable is there")
    return true
  end
  return false
end

--- Runs `callback` once the server is ready, and also if it fails: the CLI is useful without an
--- editor, too.
---@param callback fun()
local function after_server(callback)
  local this, was_downloading = {}, false
  local function finish()
    for index, start in ipairs(waiting) do
      if start == this then
        table.remove(waiting, index)
        return callback()
      end
    end
  end
  table.insert(waiting, this)
  require("claude-code.server").ensure({ after_stop = true }, function()
    if was_downloading then
      in_normal_mode(finish)
    else
      finish()
    end
  end)
  was_downloading = vim.list_contains(waiting, this) and M.notify_if_downloading()
end

---@class claude-code.StartOptions
---@field folder? string absolute, in which it starts; that of the tab page or the option if left out

--- The command line and the environment name the server and its executable, so they are made when
--- both are there.
---@param arguments string[]
---@param n? integer
---@param options claude-code.StartOptions
local function open(arguments, n, options)
  local launch, notify =
    require("claude-code.terminal.launch"), require("claude-code.messages.notify")
  local command, session = launch.command(arguments)
  local folder, message = options.folder, nil
  if not folder then
    folder, message = launch.folder()
  end
  if not command or not folder then
    return notify.error(not command and session or message)
  end
  if session.is_background then
    local given = { name = session.name, env = launch.environment(), folder = folder }
    return require("claude-code.terminal.background").start(command, given)
  end
  require("claude-code.terminal.winbar").follow()
  n = sessions.add({
    n = n,
    id = session.id,
    job = session.job,
    name = session.name,
    worktree = session.worktree,
    cwd = folder,
  })
  -- The daemon of sessions in the background would hand the number on to all of them.
  local environment = launch.environment(not session.job and n or nil)
  if not running.open(n, { n = n, command = command, env = environment, folder = folder }) then
    return
  end
  if require("claude-code.server").state ~= "ready" then
    notify.warn("Claude started without a connection to Neovim; :Claude status shows why")
  end
end

---@param arguments string[] for the CLI
---@param n? integer number of the session; the first that is free if left out
---@param options? claude-code.StartOptions
function M.run(arguments, n, options)
  -- A CLI that is missing is no reason to wait.
  local found, message = require("claude-code.claude.cli").command()
  if not found then
    require("claude-code.messages.notify").error(message --[[@as string]])
    return
  end
  after_server(function()
    open(arguments, n, options or {})
  end)
end

return M
