--- Starts a CLI in a terminal, once the server that it connects to is ready.
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local notify = require("claude-code.messages.notify")
local task = require("claude-code.lib.task")

local M = {}

---@type table<table, true> the starts that wait for the server
local waiting = {}

local followers = {} ---@type (fun())[]

---@return boolean
function M.is_waiting()
  return next(waiting) ~= nil
end

--- Runs `callback` when one of the waiting starts has begun, or all are cancelled.
---@param callback fun()
function M.after(callback)
  table.insert(followers, callback)
end

local function call_followers()
  local all = followers
  followers = {}
  for _, follower in ipairs(all) do
    follower()
  end
end

---@return boolean cancelled false if nothing waits
function M.cancel()
  local is_waiting = M.is_waiting()
  waiting = {}
  call_followers()
  return is_waiting
end

--- Runs `callback` in normal mode: the terminal takes the cursor, so not from a user who types.
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
  if M.is_waiting() and require("claude-code.server").state == "downloading" then
    notify.info("Claude starts once the executable is there")
    return true
  end
  return false
end

--- A project may switch off the hooks of all that starts in it.
local WITHOUT_HOOKS =
  "Claude runs without hooks: nothing records its changes for :Claude review, or checks them: "

--- The command line and the environment name the server and its executable, so they are made when both are ready.
---@param place? claude-code.RemotePlace
---@param setup claude-code.FolderSetup
local function open(arguments, n, folder, place, setup)
  local launch = require("claude-code.terminal.launch")
  local command, session = launch.command(arguments, place, setup)
  if not command then
    return notify.error(session)
  end
  if setup.off then
    notify.warn(WITHOUT_HOOKS .. setup.off)
  end
  require("claude-code.terminal.winbar").follow()
  n = sessions.add({
    n = n,
    id = session.id,
    job = session.job,
    name = session.name,
    worktree = session.worktree,
    cwd = folder,
    remote = place and place.name,
  })
  -- The daemon of sessions in the background would hand the number on to all of them.
  local is_daemons = session.job or session.is_background
  local environment = launch.environment(not is_daemons and n or nil)
  if place then
    -- A program that the remote's command starts must not be the project's.
    local path = require("claude-code.programs").absolute_first() or vim.env.PATH
    command, environment = require("claude-code.remote").fill(place, command, n), { PATH = path }
  end
  local opened = running.open({
    number = n,
    command = command,
    env = environment,
    folder = folder,
    is_background = session.is_background,
  })
  if not opened then
    return
  end
  local report = place and require("claude-code.remote").report(place.name)
  if require("claude-code.server").state ~= "ready" then
    notify.warn("Claude is not connected; :Claude status shows why")
  elseif report and report.state ~= "up" then
    local why = report.cause or "its relay has not answered yet"
    notify.warn(("Claude started in %s without a connection to Neovim: %s"):format(place.name, why))
  end
end

---@param arguments string[] for the CLI
---@param n? integer number of the session; the first that is free if left out
---@param folder? string absolute, in which it starts; that of the tab page or the option if left out
function M.run(arguments, n, folder)
  local message, place, found
  if not folder then
    folder, message = require("claude-code.terminal.launch").folder()
  end
  if folder then
    place, message = require("claude-code.remote").place(folder)
  end
  -- Fail now, not later, if the CLI is missing.
  if not place and not message then
    found, message = require("claude-code.claude.cli").command()
  end
  if not place and not found then
    notify.error(message --[[@as string]])
    return
  end
  local this, was_downloading = {}, false
  waiting[this] = true
  task.run(function()
    -- A server that fails is no obstacle: the CLI is useful without an editor, too.
    local is_ready = task.await(function(done)
      require("claude-code.server").ensure({ is_wanted = true }, done)
      was_downloading = M.notify_if_downloading()
    end)
    if place and is_ready and waiting[this] then
      task.await(function(done)
        require("claude-code.remote").ensure(place, done)
      end)
    end
    local setup = task.await(function(done)
      require("claude-code.terminal.launch").look(folder, place, done)
    end)
    if place and is_ready or was_downloading then
      task.await(in_normal_mode)
    end
    if waiting[this] then
      waiting[this] = nil
      open(arguments, n, folder --[[@as string]], place, setup)
      call_followers()
    end
  end)
end

return M
