--- Where Claude starts: here, or in one of the user's remotes.
local M = {}

---@class claude-code.RemotePlace a remote for one folder
---@field name string
---@field command string[]
---@field relay string[]
---@field folder string here, in which it starts
---@field path_mappings? table<string, string>

--- Calls an option that is a function; any other is what it is.
---@param option any
---@param key string
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

---@param name string
---@param folder string
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

return M
