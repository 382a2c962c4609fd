--- Asks an executable for its version.
local M = {}

local TIMEOUT_MS = 3000
--- `strip` takes the program that is appended to Bun's runtime.
local STRIPPED = "%s was stripped, and is only Bun's runtime: a package has to be built with !strip "
  .. "(Nix: dontStrip)"

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
    local printed = result.code == 0 and result.stdout or ""
    -- Our own begins with the plugin's name.
    local is_bun = printed:match("^%d+%.%d+%.%d+%s*$")
    local version = not is_bun and printed:match("%d+%.%d+%.%d+%S*") or nil
    local text = is_bun and STRIPPED or "`%s --version` ended with code %d %s"
    local message = not version and text:format(path, result.code, result.stderr or "") or nil
    vim.schedule(function()
      callback(version, message)
    end)
  end)
  if not ok then
    callback(nil, (tostring(failure):gsub("^.-:%d+: ", "")))
  end
end

return M
