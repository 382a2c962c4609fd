--- Where Claude starts: in which of the user's remotes, and which folders there are which ones here.
local M = {}

--- More than any devcontainer.json has.
local MOST_BYTES = 1024 * 1024

---@class claude-code.RemotePlace a remote for one folder
---@field name string
---@field command string[]
---@field relay string[]|string
---@field mappings { remote: string, host: string }[]

--- The folder is the project that a devcontainer.json describes, or is below it.
---@param folder string
---@return string? root
---@return string? text of the file
local function devcontainer(folder)
  local root = vim.fs.root(folder, { ".devcontainer", ".devcontainer.json" })
  for _, name in ipairs(root and { ".devcontainer/devcontainer.json", ".devcontainer.json" } or {}) do
    local path = vim.fs.joinpath(root, name)
    local text = require("claude-code.lib.regular_file").read(path, MOST_BYTES)
    if text then
      return root, text
    end
  end
end

--- Without path_mappings: as devcontainer.json says, or else the same path on both sides.
---@param folder string
---@return table<string, string>
local function default_mappings(folder)
  local root, text = devcontainer(folder)
  if not root or not text then
    local top = require("claude-code.lib.workspace").root(folder)
    return { [top] = top }
  end
  -- Its comments: a line of its own is one.
  local plain = ("\n" .. text):gsub("\n%s*//[^\n]*", "")
  local there = plain:match('"workspaceFolder"%s*:%s*"([^"]+)"')
    or "/workspaces/${localWorkspaceFolderBasename}"
  there = there
    :gsub("%${localWorkspaceFolderBasename}", (vim.fs.basename(root):gsub("%%", "%%%%")))
    :gsub("%${localWorkspaceFolder}", (root:gsub("%%", "%%%%")))
  return { [there] = root }
end

---@param mappings table<string, string>
---@return { remote: string, host: string }[]
local function sorted(mappings)
  local list = {}
  for remote, host in pairs(mappings) do
    list[#list + 1] = { remote = remote, host = vim.fs.normalize(host) }
  end
  table.sort(list, function(a, b)
    return a.remote < b.remote
  end)
  return list
end

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

---@param folder string of the tab page
---@return claude-code.RemotePlace? place nil: Claude runs on this machine
---@return string? message why it cannot start at all
function M.of(folder)
  local config = require("claude-code.config").get()
  local name, message = value_for(config.terminal.remote, "terminal.remote", folder)
  if message or not name then
    return nil, message
  end
  local remote = config.remotes[name]
  if remote == nil then
    return nil, ("terminal.remote: there is no %s in the option remotes"):format(vim.inspect(name))
  end
  local key = "remotes." .. name
  remote, message = value_for(remote, key, folder)
  local problem = not message and require("claude-code.config.options.remote").problem(remote)
  if message or problem then
    return nil, message or key .. problem
  end
  local is_path = type(remote.relay) == "string"
  return {
    name = name,
    command = remote.command,
    relay = is_path and "unix:" .. vim.fs.normalize(remote.relay:sub(6)) or remote.relay,
    mappings = sorted(remote.path_mappings or default_mappings(folder)),
  }
end

return M
