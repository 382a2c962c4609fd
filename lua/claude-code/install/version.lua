--- Asks an executable for its version.
local M = {}

local TIMEOUT_MS = 3000

--- Calls back in the main loop, with nil and a message if the executable does not run.
---@param path string
---@param callback fun(version: string?, message: string?)
---@param timeout_ms? integer 3000 if left out
function M.of(path, callback, timeout_ms)
  local process = require("claude-code.server.process")
  local options = {
    text = true,
    timeout = timeout_ms or TIMEOUT_MS,
    env = process.whole(process.environment()),
    clear_env = true,
    cwd = require("claude-code.programs").NEUTRAL_FOLDER,
  }
  local ok, failure = pcall(vim.system, { path, "--version" }, options, function(result)
    local version = result.code == 0 and result.stdout:match("%d+%.%d+%.%d+%S*") or nil
    local text = "`%s --version` ended with code %d %s"
    local message = not version and text:format(path, result.code, result.stderr or "") or nil
    vim.schedule(function()
      callback(version, message)
    end)
  end)
  if not ok then
    callback(nil, tostring(failure))
  end
end

return M
