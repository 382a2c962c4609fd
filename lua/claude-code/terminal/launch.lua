--- What is run in the terminal: the CLI's command line and environment.
local M = {}

--- A word of the user's that says how to deal with permissions: ours is left out then.
local OWN_MODE = { "--permission-mode", "--dangerously-skip-permissions" }

---@param arguments string[]
---@return boolean
local function names_mode(arguments)
  return vim.iter(arguments):any(function(argument)
    return vim.tbl_contains(OWN_MODE, vim.split(argument, "=", { plain = true })[1])
  end)
end

--- The command line. Hooks and the MCP server go along as arguments, so that no file of the user's
--- is touched; the user's own arguments come last.
---@param arguments string[]
---@return string[]? command
---@return string? message
function M.command(arguments)
  local command, message = require("claude-code.cli").command()
  if not command then
    return nil, message
  end
  local options = require("claude-code.config").get().terminal
  local own = vim.list_extend(vim.list_slice(options.args), arguments)
  if options.permission_mode and not names_mode(own) then
    vim.list_extend(command, { "--permission-mode", options.permission_mode })
  end
  vim.list_extend(command, require("claude-code.cli_arguments").launch_arguments())
  return vim.list_extend(command, own)
end

--- What the CLI must find in its environment to reach this Neovim, for terminals that do not
--- inherit ours (tmux).
---@return table<string, string>
function M.environment()
  local env = require("claude-code.env").applied()
  env.NVIM = require("claude-code.identity").address()
  -- Where it keeps its settings, and looks for our lock file.
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude_folder").configured()
  return env
end

return M
