--- What goes along to a Claude CLI that is started from this Neovim, so that no file of the user's
--- is touched: the hooks, and the MCP server nvim-lsp.
local M = {}

--- The name of the server: its tools are `mcp__nvim-lsp__…`.
local SERVER = "nvim-lsp"
--- As src/claude/editing-tools.ts has it; a test compares the two.
local EDITING_TOOLS = "Edit|Write|MultiEdit|NotebookEdit"
--- Seconds after which the CLI ends a hook; longer than our own deadlines.
local QUICK_S, WAITING_S = 5, 15
--- Each makes a compiled Bun program run foreign code, or itself run as Bun.
local HAZARDS = { "BUN_OPTIONS", "BUN_BE_BUN" }

---@param executable string
---@param arguments string[]
---@return string[]
local function words(executable, arguments)
  local list = {}
  if vim.fn.has("win32") == 0 then
    list = { "env" }
    for _, name in ipairs(HAZARDS) do
      vim.list_extend(list, { "-u", name })
    end
  end
  table.insert(list, executable)
  return vim.list_extend(list, arguments)
end

---@param word string
---@return string word for the shell that runs hooks, which is not the user's
local function quoted(word)
  if word:find("^[%w_@%%+=:,./-]+$") then
    return word
  elseif vim.fn.has("win32") == 1 then
    return '"' .. word .. '"'
  end
  return "'" .. word:gsub("'", "'\\''") .. "'"
end

---@param executable string
---@return table<string, table[]> hooks as Claude Code's settings have them
local function hooks(executable)
  local function entry(event, timeout)
    local line = words(executable, { "hook", event, "--from-neovim" })
    return {
      type = "command",
      command = table.concat(vim.tbl_map(quoted, line), " "),
      timeout = timeout,
    }
  end
  return {
    SessionStart = { { hooks = { entry("session-start", QUICK_S) } } },
    PostToolUse = {
      { matcher = EDITING_TOOLS, hooks = { entry("post-tool-use", WAITING_S) } },
    },
    Stop = { { hooks = { entry("stop", WAITING_S) } } },
    SessionEnd = { { hooks = { entry("session-end", QUICK_S) } } },
  }
end

---@param path string
---@return boolean does a settings file hold our hooks already?
local function has_hooks(path)
  local file = io.open(path, "r")
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

---@class claude-code.LaunchPlace
---@field executable? string the running server's, or the one that would be started
---@field folder? string where the CLI will run; the current tab page's folder if left out

--- The arguments, each with its value behind `=`: --mcp-config would take the words that follow it
--- for further values. Empty without an executable, or where `mcp.in_terminal` is off.
---@param place? claude-code.LaunchPlace
---@return string[]
function M.launch_arguments(place)
  place = place or {}
  if not require("claude-code.config").get().mcp.in_terminal then
    return {}
  end
  local executable = place.executable
  if not executable then
    local binary = require("claude-code.server").binary
      or (require("claude-code.install.locate").find())
    executable = binary and binary.path
  end
  if not executable then
    return {}
  end
  -- Without this rule the CLI would ask before each call: they only read.
  local settings = { permissions = { allow = { "mcp__" .. SERVER } } }
  if not are_installed(place.folder or vim.fn.getcwd(-1, 0)) then
    settings.hooks = hooks(executable)
  end
  local command = words(executable, { "mcp" })
  local server = { type = "stdio", command = table.remove(command, 1), args = command }
  return {
    "--settings=" .. vim.json.encode(settings),
    "--mcp-config=" .. vim.json.encode({ mcpServers = { [SERVER] = server } }),
  }
end

return M
