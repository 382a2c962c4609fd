--- The line of JSON on the executable's stdin with which it starts (Launch in
--- src/ide/launch.ts).
local M = {}

---@param port? integer
---@param range { [1]: integer, [2]: integer }
---@return integer? port unless the options exclude it by now
local function within(port, range)
  return port and port >= range[1] and port <= range[2] and port or nil
end

---@param executable string its path
---@param wanted? integer port of before, which clients try again
---@param environment? table<string, string|userdata> what to change in the executable's own
---@return string without its line end
function M.encode(executable, wanted, environment)
  local contract, log = require("claude-code.install.contract"), require("claude-code.messages.log")
  local config, endpoint = require("claude-code.config"), require("claude-code.server.endpoint")
  local range = config.get().port_range
  local port = within(wanted, range)
  if wanted and not port then
    endpoint.renew()
  end
  return vim.json.encode({
    contract = contract.number,
    version = contract.version,
    executable = executable,
    token = endpoint.token(),
    nextToken = endpoint.next_token(),
    pid = vim.uv.os_getpid(),
    port = port or vim.NIL,
    portMayBeHeld = endpoint.may_be_held(),
    portRange = { first = range[1], last = range[2] },
    workspaceFolders = require("claude-code.lib.workspace").folders(),
    logFile = log.level() ~= "off" and log.path() or vim.NIL,
    logLevel = log.level() ~= "off" and log.level() or "error",
    options = { execute_code = config.get().execute_code },
    environment = environment and next(environment) and environment or nil,
  })
end

return M
