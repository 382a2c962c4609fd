--- Which client of the server runs in which terminal of this Neovim, whoever opened that.
local label = require("claude-code.sessions.label")
local sessions = require("claude-code.sessions")

local M = {}

---@return integer[] process ids of the connected CLIs
function M.pids()
  local pids = {}
  for _, client in ipairs(require("claude-code.server").clients) do
    pids[#pids + 1] = client.name == "claude-code" and client.pid or nil
  end
  return pids
end

--- A terminal in which one of these CLIs runs.
---@param pids integer[]
---@return integer? buf
function M.terminal(pids)
  return vim
    .iter(pids)
    :map(function(pid)
      return (sessions.get({ pid = pid }) or {}).buf
    end)
    :next()
end

--- The session of this Neovim whose CLI this is. In a terminal of the user's own provider the process
--- may not be known: it is the CLI's if there is only one of each.
---@param pid integer of a connected CLI
---@return integer? n
function M.session(pid)
  local row, rows, pids = sessions.get({ pid = pid }) or {}, label.own(), M.pids()
  local is_only = #rows == 1 and #pids == 1 and pids[1] == pid and not row.buf
  return row.n or is_only and rows[1].n or nil
end

--- What a message calls the session of a CLI; nil unless several run in this Neovim.
---@param pid integer of a connected CLI
---@return string?
function M.label(pid)
  local n = #label.own() > 1 and M.session(pid)
  return n and label.of(n) or nil
end

--- The number of a client's session; nil unless several run in this Neovim.
---@param id integer|string the client's
---@return integer? n
function M.session_of_client(id)
  if #label.own() < 2 then
    return nil
  end
  local client = vim.iter(require("claude-code.server").clients):find(function(client)
    return client.id == id
  end)
  return client and client.pid and M.session(client.pid)
end

--- The process of the CLI of the current session; nil unless several run in this Neovim, or as long as
--- that one is not connected.
---@return integer? pid
function M.current_pid()
  local n = #label.own() > 1 and sessions.current()
  return n and vim.iter(M.pids()):find(function(pid)
    return M.session(pid) == n
  end) or nil
end

return M
