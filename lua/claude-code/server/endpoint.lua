--- Who this Neovim is to the executable: a token for as long as it keeps its port, and a socket.
local M = {}

---@type string?, string?
local token, next_token

--- Whether the port was that of another Neovim, whose executable may still hold it.
local is_inherited = false

---@return string
local function new_token()
  local made = require("claude-code.lib.uuid").make()
  require("claude-code.messages.log").conceal(made)
  return made
end

--- The token a client must show. Kept over restarts: the Claude CLI never looks for a new one.
---@return string
function M.token()
  token = token or new_token()
  return token
end

--- The token that replaces it where the port of before belongs to another program by now: to that
--- program the Claude CLI sends the token of before.
---@return string
function M.next_token()
  next_token = next_token or new_token()
  return next_token
end

--- Forgets the token: it belongs to a port that this Neovim does not use any more.
function M.renew()
  token, next_token = M.next_token(), nil
end

--- The port and the token of a Neovim that has left its Claudes behind are this one's from now on. With
--- any other port the token is a new one.
---@return integer? port nil: nobody looks for it
function M.inherit()
  local keeps = require("claude-code.config").get().terminal.keep
  local left = keeps and require("claude-code.tmux.kept").endpoint() or nil
  if not left then
    token = nil
    return nil
  end
  require("claude-code.messages.log").conceal(left.token)
  token, is_inherited = left.token, true
  return left.port
end

---@return boolean
function M.may_be_held()
  return is_inherited or require("claude-code.server.process").is_one_ending()
end

--- From now on the token is the one that the executable serves with.
---@param info claude-code.ReadyInfo
function M.on_ready(info)
  is_inherited = false
  if info.uses_next_token then
    M.renew()
  end
end

---@param address string
---@return boolean
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
  if made then
    return answer
  end
  return nil, answer
end

return M
