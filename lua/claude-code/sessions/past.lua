--- Past conversations of the workspace and its work trees. The executable reads them, outside of
--- Neovim's thread.
local M = {}

local TIMEOUT_MS = 5000

---@class claude-code.Conversation
---@field id string
---@field title string one line
---@field cwd string absolute; Claude resumes it only there
---@field exists boolean whether that folder is still there
---@field branch? string
---@field bytes integer
---@field at number ms since 1970, of its last entry

---@param output string of `sessions --json`
---@return claude-code.Conversation[]
local function parse(output)
  local ok, data = pcall(vim.json.decode, output, { luanil = { object = true } })
  return ok and type(data) == "table" and data.conversations or {}
end

---@return string? path of the executable
local function executable()
  local binary = require("claude-code.server").binary
    or (require("claude-code.install.locate").find())
  return binary and binary.path
end

---@param callback fun(conversations: claude-code.Conversation[]) in the main loop; the newest first, none
---that runs; empty if they cannot be listed
function M.list(callback)
  local path, folders = executable(), require("claude-code.lib.workspace").folders()
  if not path or #folders == 0 then
    return callback({})
  end
  local command = { path, "sessions", "--json" }
  for _, folder in ipairs(folders) do
    vim.list_extend(command, { "--folder", folder })
  end
  local process = require("claude-code.server.process")
  local options = {
    text = true,
    timeout = TIMEOUT_MS,
    env = process.whole(process.environment()),
    clear_env = true,
    cwd = require("claude-code.programs").NEUTRAL_FOLDER,
  }
  local done = vim.schedule_wrap(function(result)
    if result.code ~= 0 then
      local log = require("claude-code.messages.log")
      log.warn("past conversations were not listed: %s", vim.trim(result.stderr or ""))
    end
    callback(result.code == 0 and parse(result.stdout or "") or {})
  end)
  if not pcall(vim.system, command, options, done) then
    callback({})
  end
end

return M
