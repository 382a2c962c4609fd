--- What a Claude CLI that is started from this Neovim gets, so that no file of the user's is
--- touched: the hooks, and the MCP server nvim-lsp. The executable makes the arguments.
local M = {}

---@class claude-code.CliArguments each is one word
---@field settings string without hooks
---@field settings_with_hooks string
---@field mcp_config string

---@param path string
---@return boolean does a settings file hold our hooks already?
local function has_hooks(path)
  local stat = vim.uv.fs_stat(path)
  -- To open a FIFO waits for who writes to it.
  local file = stat and stat.type == "file" and io.open(path, "r")
  if not file then
    return false
  end
  local text = file:read("*a")
  file:close()
  return text:find("claude%-code%-nvim[^\n]* hook stop") ~= nil
end

--- The CLI reads the folder's own settings and those of its repository's top, and no others on the
--- way up (measured with Claude Code 2.1.330).
---@param folder string
---@return boolean are the hooks in a settings file that the CLI will read there?
local function are_installed(folder)
  local config = require("claude-code.claude.config_dir").path()
  local places = { vim.fs.joinpath(config, "settings.json") }
  for _, top in ipairs({ folder, vim.fs.root(folder, ".git") }) do
    table.insert(places, vim.fs.joinpath(top, ".claude", "settings.json"))
    table.insert(places, vim.fs.joinpath(top, ".claude", "settings.local.json"))
  end
  return vim.iter(places):any(has_hooks)
end

--- Empty before the executable was ever ready, or where `mcp.in_terminal` is off.
---@param folder? string where the CLI will run; the current tab page's folder if left out
---@return string[]
function M.launch_arguments(folder)
  local made = require("claude-code.server").cli_arguments
  if not made or not require("claude-code.config").get().mcp.in_terminal then
    return {}
  end
  local installed = are_installed(folder or vim.fn.getcwd(-1, 0))
  return { installed and made.settings or made.settings_with_hooks, made.mcp_config }
end

return M
