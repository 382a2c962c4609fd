if vim.g.loaded_claude_code then
  return
end
vim.g.loaded_claude_code = true

if vim.fn.has("nvim-0.10") == 0 then
  local text = "claude-code.nvim: needs Neovim 0.10 or newer; this is an older one"
  vim.api.nvim_echo({ { text, "WarningMsg" } }, true, {})
  return
end

--- Nothing is loaded, and nothing started, until a command is used or setup() is called.
---@param name string
---@param method string a function of claude-code.commands
---@param desc string
local function define(name, method, desc)
  vim.api.nvim_create_user_command(name, function(args)
    require("claude-code.commands")[method](args)
  end, { desc = desc })
end

define("ClaudeCodeStart", "start", "Claude Code: offer this Neovim to the Claude CLI")
define("ClaudeCodeStop", "stop", "Claude Code: stop the server")
define("ClaudeCodeStatus", "status", "Claude Code: show the server, its clients and its workspace")
define("ClaudeCodeLog", "log", "Claude Code: open the log file")
define("ClaudeCodeDiffAccept", "diff_accept", "Claude Code: accept the proposed edit that is shown")
define("ClaudeCodeDiffDeny", "diff_deny", "Claude Code: reject the proposed edit that is shown")
