--- What a Claude CLI that is started from this Neovim gets, so that no file of the user's is
--- touched: the hooks, and the MCP server nvim-lsp. The executable makes the arguments.
local M = {}

---@class claude-code.CliArguments each is one word
---@field settings string without hooks
---@field settings_with_hooks string
---@field settings_with_answers string with the hook of the option `permissions.answer`, and no other
---@field settings_with_all string
---@field mcp_config string

--- As the executable reads of a settings file.
local MOST_BYTES = 1024 * 1024

---@param path string
---@param event string of `claude-code-nvim hook`
---@return boolean does a settings file hold our hook of this event already?
local function has_hook(path, event)
  local text = require("claude-code.lib.regular_file").read(path, MOST_BYTES) or ""
  return vim.iter(vim.gsplit(text, "\n", { plain = true })):any(function(line)
    local _, at = line:find("claude-code-nvim", 1, true)
    return at ~= nil and line:find(" hook " .. event, at + 1, true) ~= nil
  end)
end

--- The CLI reads the folder's own settings and those of its repository's top, and no others on the
--- way up (measured with Claude Code 2.1.330).
---@param folder string
---@param event string
---@return boolean is the hook in a settings file that the CLI will read there?
local function is_installed(folder, event)
  local config = require("claude-code.claude.config_dir").path()
  local places = { vim.fs.joinpath(config, "settings.json") }
  for _, top in ipairs({ folder, vim.fs.root(folder, ".git") }) do
    table.insert(places, vim.fs.joinpath(top, ".claude", "settings.json"))
    table.insert(places, vim.fs.joinpath(top, ".claude", "settings.local.json"))
  end
  return vim.iter(places):any(function(path)
    return has_hook(path, event)
  end)
end

--- Which settings the CLI gets, by which of our hooks it does not have yet.
---@param folder string
---@return "settings"|"settings_with_hooks"|"settings_with_answers"|"settings_with_all"
local function settings_for(folder)
  local hooks = not is_installed(folder, "stop")
  local answers = require("claude-code.config").get().permissions.answer
    and not is_installed(folder, "permission-request")
  if hooks and answers then
    return "settings_with_all"
  end
  return hooks and "settings_with_hooks" or answers and "settings_with_answers" or "settings"
end

--- Empty before the executable was ever ready, or where `mcp.in_terminal` is off.
---@param folder? string where the CLI will run; the current tab page's folder if left out
---@return string[]
function M.launch_arguments(folder)
  local made = require("claude-code.server").cli_arguments
  if not made or not require("claude-code.config").get().mcp.in_terminal then
    return {}
  end
  return { made[settings_for(folder or vim.fn.getcwd(-1, 0))], made.mcp_config }
end

return M
