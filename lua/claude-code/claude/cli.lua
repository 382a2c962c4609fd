--- The Claude CLI on this machine, and its folder for settings and lock files.
local platform = require("claude-code.lib.platform")
local programs = require("claude-code.programs")

local M = {}

local REMEDY = "run `npm install -g @anthropic-ai/claude-code`"

--- Installers use these folders, and those of Homebrew and npm are not on the $PATH of a Neovim that the Dock started.
--- TypeScript has the same list (src/claude/cli.ts).
local PLACES = { "~/.local/bin", "~/.claude/local", "~/.npm-global/bin" }
if platform.is_mac then
  vim.list_extend(PLACES, { "/opt/homebrew/bin", "/usr/local/bin" })
end

--- The program that npm's claude.cmd starts. cmd.exe would take our arguments apart.
local BEHIND_SHIM = "/node_modules/@anthropic-ai/claude-code/bin/claude.exe"

--- The program behind npm's claude.cmd; another path as it is.
function M.behind_shim(path)
  local program = vim.fs.dirname(path) .. BEHIND_SHIM
  return path:lower():match("%.cmd$") and programs.runs(program) and program or path
end

---@param given string name to look up, or path
---@return string? path, string? message
function M.find(given)
  local name = vim.fs.normalize(given)
  if not name:find("/", 1, true) then
    return programs.on_path(name)
  end
  local path = programs.at(platform.normal(name))
  return path, ("`%s` is not an executable file"):format(given)
end

---@return string[]? command of the options, with an absolute path
---@return string? message, string? why the message without the remedy
function M.command()
  local given = require("claude-code.config").get().terminal.command
  local command = type(given) == "table" and vim.list_slice(given) or { given }
  local path, message = M.find(command[1])
  if not path and command[1] == "claude" then
    path = vim
      .iter(PLACES)
      :map(function(folder)
        return (M.find(folder .. "/claude"))
      end)
      :next()
  end
  if not path then
    local text = "the Claude CLI %s; %s, or name it in terminal.command"
    return nil, text:format(message, REMEDY), message
  end
  command[1] = M.behind_shim(path)
  return command
end

local absolute = {} ---@type table<string, string> by the value of the variable

--- A relative path is relative to Neovim's folder at the first call: the user may change folders later.
---@return string? folder $CLAUDE_CONFIG_DIR
function M.config_dir()
  local given = vim.env.CLAUDE_CONFIG_DIR
  if not given or given == "" then
    return nil
  end
  absolute[given] = absolute[given]
    or vim.fs.normalize(vim.fn.fnamemodify(given, ":p"), { expand_env = false })
  return absolute[given]
end

return M
