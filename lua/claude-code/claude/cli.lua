--- The Claude CLI on this machine, and its folder for settings and lock files.
local M = {}

--- The command both installs and updates it.
local REMEDY = "run `npm install -g @anthropic-ai/claude-code`"

--- Paths of its installers, for a Neovim without the shell's $PATH.
local PLACES = { "~/.local/bin/claude", "~/.claude/local/claude" }

--- Looks a name up, but not a path.
---@param given string
---@return string? path
---@return string? message if there is none
function M.find(given)
  local programs = require("claude-code.programs")
  local name = vim.fs.normalize(given)
  if not name:find("/", 1, true) then
    return programs.on_path(name)
  end
  local path = programs.at(vim.fn.fnamemodify(name, ":p"))
  return path, ("`%s` is not an executable file"):format(given)
end

--- The command of the options with its program as an absolute path.
---@return string[]? command
---@return string? message
---@return string? why the message without the remedy
function M.command()
  local given = require("claude-code.config").get().terminal.command
  local command = type(given) == "table" and vim.list_slice(given) or { given }
  local path, message = M.find(command[1])
  if not path and command[1] == "claude" then
    path = M.find(PLACES[1]) or M.find(PLACES[2])
  end
  if not path then
    local text = "the Claude CLI %s; %s, or name it in terminal.command"
    return nil, text:format(message, REMEDY), message
  end
  command[1] = path
  return command
end

local absolute = {} ---@type table<string, string> by the value of the variable

--- The executable runs elsewhere, and the user changes folders, so a relative path counts from Neovim's folder at the
--- first call.
---@return string? $CLAUDE_CONFIG_DIR
function M.config_dir()
  local said = vim.env.CLAUDE_CONFIG_DIR
  if not said or said == "" then
    return nil
  end
  absolute[said] = absolute[said]
    or vim.fs.normalize(vim.fn.fnamemodify(said, ":p"), { expand_env = false })
  return absolute[said]
end

return M
