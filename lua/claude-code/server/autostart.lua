--- The option `auto_start`: when the server starts automatically. A Neovim that edits a file for another program (git's
--- commit editor, crontab, a pager, …) must not offer itself to the Claude CLI.
local autocommands = require("claude-code.lib.autocommands")

local M = {
  reason = nil, ---@type string? why the server did not start automatically
}

--- Lua patterns for a file's path with "/" before it, and the program that opens such files.
local FILES = {
  { "/[A-Z]+_EDITMSG$", "git" },
  { "/[A-Z]+_MSG$", "git" },
  { "/EDIT_DESCRIPTION$", "git" },
  { "/git%-rebase%-todo$", "git" },
  { "/addp%-hunk%-edit%.diff$", "git" },
  { "/ADD_EDIT%.patch$", "git" },
  { "_LOCAL_%d+[^/]*$", "git mergetool" },
  { "_REMOTE_%d+[^/]*$", "git mergetool" },
  { "/svn%-commit[^/]*%.tmp$", "svn commit" },
  { "/hg%-editor%-[^/]+$", "hg commit" },
  { "%.jjdescription$", "jj describe" },
  { "/crontab%.%w+/crontab$", "crontab" },
  { "/crontab%.%w%w%w%w%w%w+$", "crontab" },
  { "/sudoers%.tmp$", "visudo" },
  { "/bash%-fc%.%w+$", "the shell's command line" },
  { "/zsh%w%w%w%w%w%w%.zsh$", "the shell's command line" },
  { "/tmp%.%w+%.fish$", "the shell's command line" },
  { "/kubectl%-edit%-[^/]+$", "kubectl edit" },
  { "/psql%.edit%.[^/]+$", "psql" },
  { "mutt%-[^/]+%-%d+%-%d+%-%d+$", "a mail program" },
  { "/claude%-prompt%-%x+%-?[%x-]*%.md$", "the Claude CLI's prompt" },
}

--- Arguments that make Neovim a pager or a script.
local ARGUMENTS = {
  ["-"] = "a pipe",
  ["+Man!"] = "man",
  ["-es"] = "a script",
  ["-Es"] = "a script",
}

local reads_stdin = false

local function by_argument()
  for _, argument in ipairs(vim.v.argv) do
    if argument == "--" then
      break
    elseif ARGUMENTS[argument] then
      return ARGUMENTS[argument]
    end
  end
end

local function by_file()
  for _, argument in
    ipairs(vim.fn.argv() --[[@as string[] ]])
  do
    local path = "/" .. vim.fs.normalize(argument)
    for _, file in ipairs(FILES) do
      if path:find(file[1]) then
        return file[2]
      end
    end
  end
end

local function by_environment()
  if vim.g.vscode then
    return "VS Code"
  elseif vim.g.started_by_firenvim then
    return "a browser"
  elseif vim.env.GIT_DIFF_PATH_COUNTER or vim.env.GIT_DIFFTOOL_DIRDIFF then
    return "git difftool"
  elseif vim.env.CLAUDECODE == "1" then
    -- Tools and hooks of the Claude CLI have this variable.
    return "the Claude CLI"
  end
end

---@return string? program that uses this Neovim as its editor
function M.program()
  if reads_stdin then
    return "a pipe"
  end
  return by_environment() or by_argument() or by_file()
end

---@type fun()?
local cancel_watch

---@return string? reason against a start
---@return boolean? may_change with the folders
local function reason_against()
  local option = require("claude-code.config").get().auto_start
  local program = option == "auto" and M.program()
  if program then
    return ("this Neovim edits for another program (%s)"):format(program)
  elseif option == false then
    return "auto_start is false"
  elseif option == "auto" and #require("claude-code.lib.workspace").folders() == 0 then
    return "the workspace would be the home folder or one above it", true
  end
end

--- Only the user starts the server from now on.
function M.disable()
  M.reason = nil
  autocommands.new("autostart")
  if cancel_watch then
    cancel_watch()
    cancel_watch = nil
  end
end

--- Decides now, and again after changes of the folders that may matter.
local function run()
  local server = require("claude-code.server")
  if server.state ~= "stopped" or server.stopped_by_user then
    return M.disable()
  end
  local reason, may_change = reason_against()
  if not reason then
    server.start({ allow_home = require("claude-code.config").get().auto_start == true })
    return M.disable()
  end
  M.reason = reason
  if may_change and not cancel_watch then
    cancel_watch = require("claude-code.lib.workspace").on_change(run)
  end
end

--- The option `auto_start` decides from now on, first when Neovim has drawn its first screen.
function M.enable()
  M.disable()
  if vim.v.vim_did_enter == 1 then
    vim.schedule(run)
    return
  end
  local group = autocommands.new("autostart")
  -- Fires only if Neovim reads text from a pipe.
  group:on("StdinReadPre", function()
    reads_stdin = true
  end)
  group:on("VimEnter", vim.schedule_wrap(run))
end

return M
