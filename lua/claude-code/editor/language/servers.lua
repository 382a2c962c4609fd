--- The language servers that the user's Neovim runs: which can answer a question, and whether they are ready to.
local autocommands = require("claude-code.lib.autocommands")
local lsp = require("claude-code.lib.lsp")
local uv = vim.uv

---Until then a server may still be reading the project, whether it reports progress or not.
local YOUNG_MS = 30000

local M = {}

---@alias claude-code.ServerCondition "idle"|"starting"|"indexing"|"failing"|"ended"|"hangs"

---@class claude-code.LanguageServerState
---@field name string
---@field state claude-code.ServerCondition
---@field title? string its error

---rust-analyzer's, if the client asks for it: { health, quiescent, message? }.
local STATUS = "experimental/serverStatus"

local attached = {} ---@type table<integer, number> when it was, by client and uv.now()
local reports = {} ---@type table<integer, { state: "indexing"|"failing", title?: string }> by client
local events ---@type claude-code.Autocommands?

---@param inner? function
---@param err any
---@param params any
---@param ctx lsp.HandlerContext
---@param config any
local function on_status(inner, err, params, ctx, config)
  if type(params) == "table" then
    reports[ctx.client_id] = params.health == "error"
        and { state = "failing", title = params.message }
      or params.quiescent == false and { state = "indexing" }
      or nil
  end
  return inner and inner(err, params, ctx, config) or nil
end

---@param client vim.lsp.Client?
local function note(client)
  if client then
    attached[client.id] = attached[client.id] or uv.now()
    lsp.wrap_all(client, STATUS, on_status)
  end
end

---Notes from now on which servers attach.
function M.start()
  if events then
    return
  end
  events = autocommands.new("language")
  events:on("LspAttach", function(_, args)
    note(vim.lsp.get_client_by_id(args.data.client_id))
  end)
  vim.tbl_map(note, lsp.clients())
end

---@param client vim.lsp.Client
---@return claude-code.LanguageServerState
function M.state_of(client)
  local report = reports[client.id] or { state = "idle" }
  local state = client:is_stopped() and "ended" or lsp.busy_with(client) or report.state
  return { name = client.name, state = state, title = report.title }
end

---@param client vim.lsp.Client
---@return boolean
function M.is_busy(client)
  local state = M.state_of(client).state
  return state == "starting" or state == "indexing"
end

---@param client vim.lsp.Client
---@return boolean may it still be reading the project, without saying so?
function M.is_young(client)
  return uv.now() - (attached[client.id] or uv.now()) < YOUNG_MS
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
