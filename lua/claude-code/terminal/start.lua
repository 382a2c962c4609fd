--- Starts a CLI in a terminal once the server is ready. Chooses its command line, environment and folder.
local config = require("claude-code.config")
local notify = require("claude-code.messages.notify")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local task = require("claude-code.lib.task")
local workspace = require("claude-code.lib.workspace")

local M = {}

--- Finds out whether a CLI runs hooks in a folder. In a workspace folder it calls back at once, before Neovim reads
--- another key.
---@param callback fun(setup?: claude-code.FolderSetup)
local function look(folder, callback)
  local known = require("claude-code.sessions.sources").setup(folder)
  if known then
    return callback(known)
  end
  require("claude-code.server.channel").request("sessions/setup", { folder = folder }, callback)
end

--- The plugin for Claude Code, with hooks and the MCP server, and the settings that a plugin cannot carry.
---@param place? claude-code.RemotePlace where it will run
---@return string[] empty until the executable was ready once, and without the option `mcp.in_terminal`
function M.plugin_arguments(place)
  local server = place and require("claude-code.remote").report(place.name)
    or require("claude-code.server")
  local folder = not config.get().terminal.mod and server.plugin_without_mod or server.plugin
  if not folder or not config.get().mcp.in_terminal then
    return {}
  end
  return { "--plugin-dir=" .. folder, ("--settings=%s/settings.json"):format(folder) }
end

--- Options with which the CLI (2.1.332) runs neither hooks nor mods.
local WITHOUT_HOOKS = { "--bare", "--safe-mode" }

---@return string? why the CLI runs no hooks, if that is known before it starts
local function why_no_hooks(command, setup)
  local option = vim.iter(WITHOUT_HOOKS):find(function(word)
    return vim.list_contains(command, word)
  end)
  return setup and setup.off or option and "its CLI has " .. option or nil
end

---@param command string[]
---@param place? claude-code.RemotePlace
---@return string? why the CLI loads no mod, if that is known before it starts
local function why_no_mod(command, place)
  local has_plugin = vim.iter(command):any(function(word)
    return vim.startswith(word, "--plugin-dir=")
  end)
  return not place and not config.get().terminal.mod and "the option terminal.mod is off"
    or not place and require("claude-code.server").no_mod
    or not has_plugin and "its CLI started without the plugin folder"
    or nil
end

--- Options of the CLI that may take the next word as their value.
---@type table<string, string>
local SESSION_OPTIONS = {
  ["--session-id"] = "session",
  ["--resume"] = "resume",
  ["-r"] = "resume",
  ["--continue"] = "continue",
  ["-c"] = "continue",
  ["--from-pr"] = "resume",
  ["--fork-session"] = "fork",
  ["--name"] = "name",
  ["-n"] = "name",
  ["--worktree"] = "worktree",
  ["-w"] = "worktree",
  ["--bg"] = "background",
  ["--background"] = "background",
}

local ID = "^%x+%-%x+%-%x+%-%x+%-%x+$"

---@return table<string, string> given the value of each option; "" without one
local function parse(words)
  local given = {}
  for index, word in ipairs(words) do
    local name, value = word:match("^(%-%-[^=]+)=(.*)$")
    local option = SESSION_OPTIONS[name or word]
    if option then
      local next_word = words[index + 1] or "-"
      given[option] = value or vim.startswith(next_word, "-") and "" or next_word
    end
  end
  return given
end

---@class claude-code.SessionArguments
---@field id? string nil if the user or the CLI chooses the conversation
---@field is_new boolean the plugin made the id
---@field job? string background session to attach to
---@field is_background? boolean the CLI hands the session to its daemon, and ends
---@field name? string
---@field worktree? string

--- Reads from its arguments which session the CLI (2.1.330) starts.
---@return claude-code.SessionArguments
function M.session_of(words)
  if words[1] == "attach" then
    return { is_new = false, job = words[2] }
  end
  local given = parse(words)
  -- The CLI chooses the id of a background session.
  local resumes = given.resume or given.continue or given.background
  local id = given.session or not given.fork and given.resume or nil
  local is_new = not given.session and not resumes
  return {
    id = is_new and require("claude-code.lib.uuid")() or id and id:match(ID),
    is_new = is_new,
    is_background = given.background ~= nil,
    name = given.name ~= "" and given.name or nil,
    worktree = given.worktree ~= "" and given.worktree or nil,
  }
end

--- Passes the plugin as an argument to leave the user's files alone. The user's own arguments come last.
---@param place? claude-code.RemotePlace where it will run; the result is then only the arguments
---@param setup? claude-code.FolderSetup
---@return string[]? command, string|claude-code.SessionArguments
function M.command(arguments, place, setup)
  local command, message = {}, nil
  if not place then
    command, message = require("claude-code.claude.cli").command()
  end
  if not command then
    return nil, message --[[@as string]]
  end
  -- Subcommands do not accept the CLI's options.
  if arguments[1] == "attach" then
    return vim.list_extend(command, arguments), M.session_of(arguments)
  end
  local options = config.get().terminal
  local own = vim.list_extend(vim.list_slice(options.args), arguments)
  local session = M.session_of(own)
  if session.is_new then
    vim.list_extend(command, { "--session-id", session.id })
  end
  local has_permission_mode = vim.iter(own):any(function(word)
    return word == "--dangerously-skip-permissions" or vim.startswith(word, "--permission-mode")
  end)
  if options.permission_mode and not has_permission_mode then
    vim.list_extend(command, { "--permission-mode", options.permission_mode })
  end
  if place or not (setup and setup.forbids_plugin) then
    vim.list_extend(command, M.plugin_arguments(place))
  end
  return vim.list_extend(command, own), session
end

--- The user's variables, and those by which the CLI reaches this Neovim.
---@param n? integer the session's number, which its hooks and MCP servers inherit
local function environment_for(n)
  local own = config.get().terminal.env
  local env = vim.tbl_extend("force", own, require("claude-code.server.endpoint").environment())
  -- npm's `claude` is a script, and the project must not supply its interpreter.
  env.PATH = own.PATH or require("claude-code.programs").absolute_first()
  local binary = require("claude-code.server").binary
  -- The CLI (2.1.330) splits $VISUAL at blanks without regard to quotes, and git passes it to a shell.
  if binary and not own.VISUAL and binary.path:match("^%a?:?[%w/._+\128-\255-]+$") then
    env.VISUAL = binary.path .. " edit"
    -- `edit` runs the user's editor for other files. Within Claude's shell $VISUAL is already ours.
    local inherited = vim.env.CLAUDE_CODE_NVIM_EDITOR or vim.env.VISUAL
    local editors = { inherited or "", own.EDITOR or "", vim.env.EDITOR or "" }
    env.CLAUDE_CODE_NVIM_EDITOR = vim.iter(editors):find(function(name)
      return name ~= ""
    end)
  end
  env.NVIM = require("claude-code.server.endpoint").address()
  -- The CLI keeps its settings there, and looks for our lock file.
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude.cli").config_dir()
  env.CLAUDE_CODE_NVIM_SESSION = n and tostring(n)
  return env
end

local function configured_folder(folder)
  local cwd = config.get().terminal.cwd
  if type(cwd) == "function" then
    cwd = cwd(folder)
  end
  if cwd == "root" then
    return vim.fs.root(folder, ".git") or folder
  end
  return cwd or folder
end

--- The folder in which the CLI starts: that of the option terminal.cwd, or of the tab page. A folder of only one window
--- (|:lcd|) is not part of the workspace.
---@return string? folder absolute
---@return string? message
function M.folder()
  local tab_folder = workspace.tab_folder(0)
  local ok, cwd = pcall(configured_folder, tab_folder)
  if not ok then
    return nil, ("the function terminal.cwd failed: %s"):format(cwd)
  end
  local folder = type(cwd) == "string" and vim.fs.normalize(cwd) or ""
  if not require("claude-code.editor.documents.path").is_absolute(folder) then
    folder = vim.fs.joinpath(tab_folder, folder)
  end
  if type(cwd) ~= "string" or vim.fn.isdirectory(folder) == 0 then
    local text = "Claude cannot start in %s, which is not a folder; see the option terminal.cwd"
    return nil, text:format(vim.inspect(cwd))
  end
  return vim.fs.normalize(folder)
end

local waiting = {} ---@type table<table, true> starts that wait for the server
local followers = {} ---@type (fun())[]

function M.is_waiting()
  return next(waiting) ~= nil
end

--- Calls back when a waiting start has begun, or all are cancelled.
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

---@return boolean cancelled false if nothing was waiting
function M.cancel()
  local is_waiting = M.is_waiting()
  waiting = {}
  call_followers()
  return is_waiting
end

--- Calls back in normal mode: the terminal takes the cursor, which must not interrupt a user who types.
local function in_normal_mode(callback)
  if vim.api.nvim_get_mode().mode == "n" then
    return callback()
  end
  require("claude-code.editor.input.blocked").retry(function()
    in_normal_mode(callback)
  end)
end

---@return boolean is_downloading and a message said that a start waits for that
function M.notify_if_downloading()
  local is_downloading = M.is_waiting() and require("claude-code.server").state == "downloading"
  if is_downloading then
    notify.info("Claude starts once the executable is installed")
  end
  return is_downloading
end

--- Runs once the server is ready: command line and environment contain its port and its executable.
local function open(arguments, n, folder, place, setup)
  local command, session = M.command(arguments, place, setup)
  if not command then
    return notify.error(session)
  end
  local hooks_off = why_no_hooks(command, setup)
  if hooks_off then
    local words =
      "Claude runs without hooks: nothing records its changes for :Claude review, or checks them: %s"
    notify.warn(words:format(hooks_off))
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
    hooks_off = hooks_off,
    no_mod = hooks_off or why_no_mod(command, place),
  })
  -- The daemon of background sessions would pass the number on to all of them.
  local has_daemon = session.job or session.is_background
  local environment = environment_for(not has_daemon and n or nil)
  if place then
    -- The remote's command must not start a program of the project.
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

---@param n? integer number of the session; the first free one if left out
---@param folder? string absolute; M.folder() if left out
function M.run(arguments, n, folder)
  local message, place, found
  if not folder then
    folder, message = M.folder()
  end
  if folder then
    place, message = require("claude-code.remote").place(folder)
  end
  -- A missing CLI is an error now, not after the wait for the server.
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
    -- The CLI is useful without the server, too.
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
      look(folder, done)
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
