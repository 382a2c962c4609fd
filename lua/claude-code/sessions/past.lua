--- Past conversations of the workspace and its work trees. The executable reads them, outside of
--- Neovim's thread.
local workspace = require("claude-code.lib.workspace")

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

---@param callback fun(conversations: claude-code.Conversation[]) in the main loop; the newest first, none
---that runs; empty if they cannot be listed
function M.list(callback)
  local path, folders = require("claude-code.server").executable(), workspace.folders()
  if not path or #folders == 0 then
    return callback({})
  end
  local words = { path, "sessions", "--json" }
  for _, folder in ipairs(folders) do
    vim.list_extend(words, { "--folder", folder })
  end
  local options = { timeout = TIMEOUT_MS }
  require("claude-code.install.executable").run(words, options, function(result)
    if result.code ~= 0 then
      local log = require("claude-code.messages.log")
      log.warn("past conversations were not listed: %s", vim.trim(result.stderr or ""))
    end
    callback(result.code == 0 and parse(result.stdout or "") or {})
  end)
end

return M
