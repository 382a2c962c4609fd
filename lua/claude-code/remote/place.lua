--- The place where Claude starts, here or in one of the user's remotes, and the command for it.
local M = {}

---@class claude-code.RemotePlace a remote for one folder
---@field name string
---@field command string[]
---@field relay string[]
---@field folder string here, in which it starts
---@field path_mappings? table<string, string>

--- Calls an option that is a function; any other is what it is.
---@return any value
---@return string? message
local function value_for(option, key, folder)
  if type(option) ~= "function" then
    return option
  end
  local ok, value = pcall(option, folder)
  if not ok then
    return nil, ("the function %s failed: %s"):format(key, value)
  end
  return value
end

---@return claude-code.Remote? remote of the option `remotes`
---@return string? message
local function remote_named(name, folder)
  local remote = require("claude-code.config").get().remotes[name]
  if remote == nil then
    return nil, ("there is no %s in the option remotes"):format(vim.inspect(name))
  end
  local key = "remotes." .. name
  local message
  remote, message = value_for(remote, key, folder)
  local problem = not message and require("claude-code.config.options.remote").problem(remote)
  if message or problem then
    return nil, message or key .. problem
  end
  return remote
end

---@param folder string of the tab page
---@return claude-code.RemotePlace? place nil: Claude runs on this machine
---@return string? message why it cannot start at all
function M.of(folder)
  local name, message =
    value_for(require("claude-code.config").get().terminal.remote, "terminal.remote", folder)
  if message or not name then
    return nil, message
  end
  local remote
  remote, message = remote_named(name, folder)
  if not remote then
    return nil, message
  end
  local command = vim.list_slice(remote.command)
  command[1], message = require("claude-code.claude.cli").find(command[1])
  if not command[1] then
    return nil, ("remotes.%s.command: %s"):format(name, message)
  end
  local place = { name = name, folder = folder, command = command }
  return vim.tbl_extend("keep", place, remote)
end

---@return string for sh
local function quoted(word)
  return "'" .. word:gsub("'", [['\'']]) .. "'"
end

--- The variables of a Claude there. What leads to this Neovim on its own machine does not: a sandbox that
--- inherits our environment would find it.
---@param name string the remote's
---@param n? integer number of the session
---@return string[] words `NAME=value`
local function variables(name, n)
  local report = require("claude-code.remote").report(name)
  local options = require("claude-code.config").get().terminal
  local env = vim.tbl_extend("force", { TERM = "xterm-256color" }, options.env, {
    NVIM = "",
    CLAUDE_CODE_SSE_PORT = report.state == "up" and tostring(report.port) or "",
    CLAUDE_CODE_NVIM_SESSION = n and tostring(n) or "",
    ENABLE_IDE_INTEGRATION = "true",
    NO_PROXY = report.no_proxy,
    no_proxy = report.no_proxy,
  })
  local words = {}
  for key, value in vim.spairs(env) do
    words[#words + 1] = key .. "=" .. value
  end
  return words
end

--- The remote's command with its placeholders replaced. A word that is one becomes as many words as it stands
--- for; in a longer word, which a shell there reads, they are quoted.
---@param place claude-code.RemotePlace
---@param arguments string[] for the CLI
---@param n? integer number of the session
---@return string[]
function M.fill(place, arguments, n)
  local values = { ["{args}"] = arguments, ["{env}"] = variables(place.name, n) }
  local command = {}
  for _, word in ipairs(place.command) do
    if values[word] then
      vim.list_extend(command, values[word])
    else
      command[#command + 1] = word:gsub("{%l+}", function(placeholder)
        local words = values[placeholder]
        return words and table.concat(vim.tbl_map(quoted, words), " ")
      end)
    end
  end
  return command
end

return M
