--- Recognizes a Neovim that edits for another program: git's commit editor, crontab, a pager, … It
--- lives for one file, and must not offer itself to the Claude CLI.
local M = {}

--- Lua patterns on "/" and the path as it was given, and who opens such files. Only files of the
--- command line count: opening one later, in a Neovim with other work, changes nothing.
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

--- Arguments of Neovim itself that make it a pager or run it as a script.
local ARGUMENTS = {
  ["-"] = "a pipe",
  ["+Man!"] = "man",
  ["-es"] = "a script",
  ["-Es"] = "a script",
}

local reads_stdin = false

--- Notices that text is read from a pipe, which only an autocommand shows. Until Neovim is up.
---@param group claude-code.Autocommands
function M.watch(group)
  group:on("StdinReadPre", function()
    reads_stdin = true
  end)
end

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
    -- Set for what the Claude CLI runs (tools, hooks), not in terminals it is started from.
    return "the Claude CLI"
  end
end

--- The program this Neovim edits for.
---@return string? program nil: it is the user's own
function M.program()
  if reads_stdin then
    return "a pipe"
  end
  return by_environment() or by_argument() or by_file()
end

return M
