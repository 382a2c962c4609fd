--- The Claude CLI on this machine.
local M = {}

--- The command that installs it, and that brings it up to date.
M.REMEDY = "run `npm install -g @anthropic-ai/claude-code`"

--- Where its installers put it, for a Neovim that was started without the shell's $PATH.
local PLACES = { "~/.local/bin/claude", "~/.claude/local/claude" }

---@param name string
---@return string? path
local function executable(name)
  local path = vim.fn.exepath(vim.fn.expand(name))
  return path ~= "" and path or nil
end

--- The command of the options with its program as an absolute path.
---@return string[]? command
---@return string? message
function M.command()
  local given = require("claude-code.config").get().terminal.command
  local command = type(given) == "table" and vim.list_slice(given) or { given }
  local path = executable(command[1])
  if not path and command[1] == "claude" then
    path = vim.iter(PLACES):map(executable):next()
  end
  if not path then
    local text = "the Claude CLI `%s` is not on $PATH; %s, or name it in terminal.command"
    return nil, text:format(command[1], M.REMEDY)
  end
  command[1] = path
  return command
end

return M
