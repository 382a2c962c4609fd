--- The language servers that the user's Neovim runs: which can answer a question, and whether they are ready to.
local lsp = require("claude-code.lib.lsp")

local M = {}

---@alias claude-code.ServerCondition "idle"|"starting"|"indexing"|"failing"|"ended"|"hangs"

---@class claude-code.LanguageServerState
---@field name string
---@field state claude-code.ServerCondition
---@field title? string its error

---@param client vim.lsp.Client
---@return claude-code.LanguageServerState
function M.state_of(client)
  local state = client:is_stopped() and "ended" or lsp.busy_with(client) or "idle"
  return { name = client.name, state = state }
end

M.of_buffer = lsp.of_buffer

---@param filter vim.lsp.get_clients.Filter
---@return vim.lsp.Client[] by their ids
local function sorted(filter)
  local found = lsp.clients(filter)
  table.sort(found, function(a, b)
    return a.id < b.id
  end)
  return found
end

---The servers of a buffer that can answer such a request.
---@param buf integer
---@param method string
---@return vim.lsp.Client[] by their ids
function M.capable(buf, method)
  return sorted({ bufnr = buf, method = method })
end

---All servers that run, whatever their buffers.
---@param method? string that they can answer
---@return vim.lsp.Client[] by their ids
function M.running(method)
  return vim.tbl_filter(function(client)
    return client.initialized and not client:is_stopped()
  end, sorted({ method = method }))
end

return M
