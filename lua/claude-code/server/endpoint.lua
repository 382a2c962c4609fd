--- Who this Neovim is to the executable: a token for as long as it keeps its port, a socket, and the line
--- of JSON that says all of it.
local M = {}

--- More than any editor's lock file has.
local MAX_BYTES = 256 * 1024

---@type { token?: string, next_token?: string }
local own = {}

--- A token, which the log does not show.
---@return string
function M.new_token()
  local made = require("claude-code.lib.uuid")()
  require("claude-code.messages.log").conceal(made)
  return made
end

--- The token a client must show. Kept over restarts: the Claude CLI never looks for a new one.
---@return string
function M.token()
  own.token = own.token or M.new_token()
  return own.token
end

--- The token that replaces it where the port of before belongs to another program by now: to that
--- program the Claude CLI sends the token of before.
---@return string
function M.next_token()
  own.next_token = own.next_token or M.new_token()
  return own.next_token
end

--- Forgets the token: it belongs to a port that this Neovim does not use any more.
function M.renew()
  own.token, own.next_token = M.next_token(), nil
end

local function is_local_socket(address)
  if vim.fn.has("win32") == 1 then
    return vim.startswith(address, [[\\.\pipe\]])
  end
  local stat = vim.startswith(address, "/") and vim.uv.fs_stat(address)
  return stat ~= nil and stat ~= false and stat.type == "socket"
end

--- A socket on which this Neovim answers: a local one with an absolute path, never TCP. One is
--- made if Neovim has none such.
---@return string? address nil if Neovim cannot make one
---@return string? reason Neovim's
function M.address()
  local listening = vim.fn.serverlist()
  table.insert(listening, 1, vim.v.servername)
  for _, address in ipairs(listening) do
    if is_local_socket(address) then
      return address
    end
  end
  local made, answer = pcall(vim.fn.serverstart)
  if not made then
    -- The folder $XDG_RUNTIME_DIR is missing, as after `su` and in containers; that for temporary files is as private.
    made, answer = pcall(vim.fn.serverstart, vim.fn.tempname())
  end
  if made then
    return answer
  end
  return nil, answer
end

--- Removes our lock file when the executable, which writes it, no longer can: a file that carries one of our
--- tokens, and no other: the port may be another editor's by now.
---@param path? string the file that the executable has named
function M.remove_lock_file(path)
  local text = path and require("claude-code.lib.regular_file").read(path, MAX_BYTES)
  local ok, content = pcall(vim.json.decode, text or "")
  local token = ok and type(content) == "table" and content.authToken
  if token == M.token() or token == M.next_token() then
    os.remove(path --[[@as string]])
  end
end

--- With what the executable starts (Launch in src/ide/launch.ts).
---@param executable string its path
---@param wanted? integer port of before, which clients try again
---@return string without its line end
function M.launch_line(executable, wanted)
  local contract, log = require("claude-code.install.contract"), require("claude-code.messages.log")
  local config = require("claude-code.config")
  local range = config.get().port_range
  -- The options may exclude it by now.
  if wanted and (wanted < range[1] or wanted > range[2]) then
    M.renew()
    wanted = nil
  end
  return vim.json.encode({
    contract = contract.number,
    version = contract.version,
    executable = executable,
    token = M.token(),
    nextToken = M.next_token(),
    pid = vim.uv.os_getpid(),
    port = wanted or vim.NIL,
    portRange = { first = range[1], last = range[2] },
    workspaceFolders = require("claude-code.lib.workspace").folders(),
    logFile = log.level ~= "off" and log.path() or vim.NIL,
    logLevel = log.level ~= "off" and log.level or "error",
  })
end

return M
