--- The CLI's command line, environment and folder.
local workspace = require("claude-code.lib.workspace")

local M = {}

---@class claude-code.CliArguments each is one word
---@field settings string without hooks
---@field settings_with_hooks string
---@field settings_with_answers string with the hook of the option `permissions.answer`, and no other
---@field settings_with_all string
---@field mcp_config string
---@field installed claude-code.InstalledHooks

---@class claude-code.InstalledHooks entries of a settings file into which they were installed, by events
---@field hooks table<string, claude-code.HookGroup[]>
---@field answers table<string, claude-code.HookGroup[]>

---@param place? claude-code.RemotePlace
---@return claude-code.CliArguments?
local function arguments_of(place)
  return place and require("claude-code.remote").report(place.name).cli_arguments
    or not place and require("claude-code.server").cli_arguments
    or nil
end

--- Finds out which hooks a CLI has in a folder already: at once in a workspace folder, so that no key comes between.
---@param folder string where it will run
---@param place? claude-code.RemotePlace
---@param callback fun(setup: claude-code.FolderSetup)
function M.look(folder, place, callback)
  local here, there = arguments_of() or {}, arguments_of(place) or {}
  local function answer(setup)
    -- Lines that start another program than the remote's are of no use there. Without an answer it gets all hooks.
    local is_same = setup and (not place or vim.deep_equal(here.installed, there.installed))
    callback(is_same and setup or { off = setup and setup.off })
  end
  local known = require("claude-code.sessions.sources").setup(folder)
  if known then
    return answer(known)
  end
  require("claude-code.server.requests").request("sessions/setup", { folder = folder }, answer)
end

--- The settings that the CLI gets, by which of our hooks it does not have yet.
---@param setup claude-code.FolderSetup
---@return "settings"|"settings_with_hooks"|"settings_with_answers"|"settings_with_all"
local function settings_for(setup)
  local hooks = not setup.has_hooks
  local answers = require("claude-code.config").get().permissions.answer and not setup.has_answers
  if hooks and answers then
    return "settings_with_all"
  end
  return hooks and "settings_with_hooks" or answers and "settings_with_answers" or "settings"
end

--- It is empty before the executable was ready for the first time, and if `mcp.in_terminal` is off.
---@param setup claude-code.FolderSetup
---@param place? claude-code.RemotePlace the remote where it will run
---@return string[]
function M.launch_arguments(setup, place)
  local made = arguments_of(place)
  if not made or not require("claude-code.config").get().mcp.in_terminal then
    return {}
  end
  return { made[settings_for(setup)], made.mcp_config }
end

--- Options that take the next word as their value.
---@type table<string, "session"|"resume"|"name"|"worktree"|"continue"|"fork"|"background">
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
---@field id? string nil: the user chooses the conversation in the CLI, or the CLI does
---@field is_new boolean whether the id is one that we have made, for the CLI to take
---@field job? string of `attach`: that of a session which runs in the background
---@field is_background? boolean whether the CLI hands it to its daemon, and ends
---@field name? string
---@field worktree? string

--- The session that the CLI (2.1.330) starts, by its arguments.
---@param words string[]
---@return claude-code.SessionArguments
function M.session_of(words)
  if words[1] == "attach" then
    return { is_new = false, job = words[2] }
  end
  local given = parse(words)
  -- In the background the CLI chooses the id.
  local resumes = given.resume or given.continue or given.background
  local id = given.session or not given.fork and given.resume or nil
  local found = {
    id = id and id:match(ID),
    is_new = not given.session and not resumes,
    name = given.name ~= "" and given.name or nil,
    worktree = given.worktree ~= "" and given.worktree or nil,
  }
  found.is_background = given.background ~= nil
  if found.is_new then
    found.id = require("claude-code.lib.uuid")()
  end
  return found
end

--- Do the user's own arguments name a permission mode? The option is ignored then.
local function has_permission_mode(words)
  return vim.iter(words):any(function(word)
    return word == "--dangerously-skip-permissions" or word:find("^%-%-permission%-mode") ~= nil
  end)
end

--- Hooks and the MCP server are arguments, so that no file of the user's changes; the user's own arguments come last.
---@param arguments string[]
---@param place? claude-code.RemotePlace the remote where it will run: the command is only its arguments then
---@param setup claude-code.FolderSetup
---@return string[]? command
---@return string|claude-code.SessionArguments
function M.command(arguments, place, setup)
  local command, message = {}, nil
  if not place then
    command, message = require("claude-code.claude.cli").command()
  end
  if not command then
    return nil, message --[[@as string]]
  end
  -- A subcommand does not take the CLI's options.
  if arguments[1] == "attach" then
    return vim.list_extend(command, arguments), M.session_of(arguments)
  end
  local options = require("claude-code.config").get().terminal
  local own = vim.list_extend(vim.list_slice(options.args), arguments)
  local session = M.session_of(own)
  if session.is_new then
    vim.list_extend(command, { "--session-id", session.id })
  end
  if options.permission_mode and not has_permission_mode(own) then
    vim.list_extend(command, { "--permission-mode", options.permission_mode })
  end
  vim.list_extend(command, M.launch_arguments(setup, place))
  return vim.list_extend(command, own), session
end

--- The editor that the CLI's shell would have without us. A Neovim that Claude's shell has started inherits ours.
---@param own table<string, string>
local function users_editor(own)
  local inherited = vim.env.CLAUDE_CODE_NVIM_EDITOR or vim.env.VISUAL
  return vim.iter({ inherited or "", own.EDITOR or "", vim.env.EDITOR or "" }):find(function(name)
    return name ~= ""
  end)
end

--- The user's variables, and those by which the CLI reaches this Neovim, for terminals that do not inherit ours.
---@param n? integer the session's number, which its hooks and MCP servers inherit
---@return table<string, string>
function M.environment(n)
  local own = require("claude-code.config").get().terminal.env
  local env = vim.tbl_extend("force", own, require("claude-code.server.environment").applied())
  -- npm's `claude` is a script: the project must not hand it its interpreter.
  env.PATH = own.PATH or require("claude-code.programs").absolute_first()
  local binary = require("claude-code.server").binary
  -- The CLI (2.1.330) splits it at blanks and knows no quotes; git hands it to a shell.
  if binary and not own.VISUAL and binary.path:match("^[%w/._+-]+$") then
    env.VISUAL = binary.path .. " edit"
    env.CLAUDE_CODE_NVIM_EDITOR = users_editor(own)
  end
  env.NVIM = require("claude-code.server.endpoint").address()
  -- The CLI keeps its settings there, and looks for our lock file.
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude.cli").config_dir()
  env.CLAUDE_CODE_NVIM_SESSION = n and tostring(n)
  return env
end

--- The folder that the user's option names.
---@param folder string of the tab page
local function configured_folder(folder)
  local cwd = require("claude-code.config").get().terminal.cwd
  if type(cwd) == "function" then
    cwd = cwd(folder)
  end
  if cwd == "root" then
    return vim.fs.root(folder, ".git") or folder
  end
  return cwd or folder
end

--- The folder in which the CLI starts: the tab page's, since a window's own is not published, or that
--- of the option terminal.cwd. By the port in its environment the CLI connects from anywhere.
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

return M
