--- What is run in the terminal: the CLI's command line and environment.
local M = {}

--- Do the user's own arguments name a permission mode? The option is ignored then.
---@param words string[]
---@return boolean
local function has_permission_mode(words)
  return vim.iter(words):any(function(word)
    return word == "--dangerously-skip-permissions" or word:find("^%-%-permission%-mode") ~= nil
  end)
end

--- The command line. Hooks and the MCP server go along as arguments, so that no file of the user's
--- is touched; the user's own arguments come last.
---@param arguments string[]
---@return string[]? command
---@return string? message
function M.command(arguments)
  local command, message = require("claude-code.claude.cli").command()
  if not command then
    return nil, message
  end
  local options = require("claude-code.config").get().terminal
  local own = vim.list_extend(vim.list_slice(options.args), arguments)
  if options.permission_mode and not has_permission_mode(own) then
    vim.list_extend(command, { "--permission-mode", options.permission_mode })
  end
  vim.list_extend(command, require("claude-code.claude.arguments").launch_arguments())
  return vim.list_extend(command, own)
end

--- What the CLI must find in its environment to reach this Neovim, for terminals that do not
--- inherit ours (tmux).
---@return table<string, string>
function M.environment()
  local env = require("claude-code.server.environment").applied()
  env.NVIM = require("claude-code.server.endpoint").address()
  -- Where it keeps its settings, and looks for our lock file.
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude.config_dir").configured()
  return env
end

return M
