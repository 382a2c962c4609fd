--- How programs reach this Neovim: the executable by its launch line, with a socket and a token; Claude CLIs by the
--- environment of new terminals.
local M = {}

--- In bytes; that of macOS, which has the shortest.
local MAX_SOCKET_PATH = 103
--- Larger than any editor's lock file.
local MAX_BYTES = 256 * 1024

local token, next_token ---@type string?, string?

local PROXIES =
  { "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY" }
local LOOPBACK = { "127.0.0.1", "localhost" }

---@type table<string, { before?: string, after: string }> by the variable's name
local changes = {}

---@return string token that the log conceals
function M.new_token()
  local made = require("claude-code.lib.uuid")()
  require("claude-code.messages.log").conceal(made)
  return made
end

---@return string token that clients send. It survives restarts, since the Claude CLI never looks for a new one.
function M.token()
  token = token or M.new_token()
  return token
end

---@return string token for another port: a program with the previous port receives the previous token from the CLI
function M.next_token()
  next_token = next_token or M.new_token()
  return next_token
end

--- Replaces the token, as this Neovim has another port.
function M.renew()
  token, next_token = M.next_token(), nil
end

local function is_local_socket(address)
  if require("claude-code.lib.platform").is_windows then
    return vim.startswith(address, [[\\.\pipe\]])
  end
  local stat = vim.startswith(address, "/") and vim.uv.fs_stat(address)
  return stat ~= nil and stat ~= false and stat.type == "socket"
end

--- Finds or creates a local socket of this Neovim with an absolute path, never TCP.
---@return string? address, string? reason Neovim's, if it cannot create one
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
    -- $XDG_RUNTIME_DIR may be missing after `su` and in containers. The folder of tempname() is as private.
    local name = vim.fn.tempname()
    made, answer = pcall(vim.fn.serverstart, name)
    if not made and #name > MAX_SOCKET_PATH then
      -- libuv cuts such a path, and Neovim says that the address is in use.
      answer = ("the path %s is too long for a socket"):format(name)
    end
  end
  return made and answer or nil, answer
end

--- Removes a lock file that the executable could not remove. Another editor may have the port by now, so the file must
--- have one of our tokens.
---@param path? string as the executable reported it
function M.remove_lock_file(path)
  local text = path and require("claude-code.lib.regular_file").read(path, MAX_BYTES)
  local ok, content = pcall(vim.json.decode, text or "")
  local written = ok and type(content) == "table" and content.authToken
  if written == M.token() or written == M.next_token() then
    os.remove(path --[[@as string]])
  end
end

--- The first line that the executable reads (Launch in src/ide/launch.ts).
---@param wanted? integer the previous port, which clients try again
---@return string without a line end
function M.launch_line(executable, wanted)
  local contract, log = require("claude-code.install.contract"), require("claude-code.messages.log")
  local config = require("claude-code.config")
  local range = config.get().port_range
  -- setup() may have changed the range.
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

local function set(name, value)
  changes[name] = { before = vim.env[name], after = value }
  vim.env[name] = value
end

local function is_set(name)
  return (vim.env[name] or "") ~= ""
end

---@param list string of no_proxy
local function with_loopback(list)
  local entries = vim.split(list, "[,%s]+", { trimempty = true })
  if vim.tbl_contains(entries, "*") then
    return list
  end
  for _, host in ipairs(LOOPBACK) do
    if not vim.tbl_contains(entries, host) then
      table.insert(entries, host)
    end
  end
  return table.concat(entries, ",")
end

--- A proxy would receive ws://127.0.0.1. A new spelling of no_proxy would hide the existing one from programs that read
--- either, so this changes only existing spellings, or adds both.
local function exempt_loopback_from_proxy()
  if not vim.iter(PROXIES):any(is_set) then
    return
  end
  local names = vim.tbl_filter(is_set, { "no_proxy", "NO_PROXY" })
  for _, name in ipairs(#names > 0 and names or { "no_proxy", "NO_PROXY" }) do
    local before = vim.env[name] or ""
    local after = with_loopback(before)
    if after ~= before then
      set(name, after)
    end
  end
end

--- Lets CLIs in new terminals find this Neovim.
function M.set_environment(port)
  M.restore_environment()
  set("CLAUDE_CODE_SSE_PORT", tostring(port))
  set("ENABLE_IDE_INTEGRATION", "true")
  exempt_loopback_from_proxy()
end

---@return table<string, string> changed variables, for terminals that do not inherit Neovim's environment
function M.environment()
  return vim.tbl_map(function(change)
    return change.after
  end, changes)
end

--- Restores the variables, except those that something else has changed since. Within another Neovim's terminal they
--- lead to that one again.
function M.restore_environment()
  for name, change in pairs(changes) do
    if vim.env[name] == change.after then
      vim.env[name] = change.before
    end
  end
  changes = {}
end

return M
