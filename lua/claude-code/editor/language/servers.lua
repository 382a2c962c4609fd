--- The language servers that the user's Neovim runs: which can answer a question, and whether they are
--- ready to.
local autocommands = require("claude-code.lib.autocommands")
local lsp = require("claude-code.lib.lsp")
local uv = vim.uv

---Until then a server may still be reading the project, whether it reports progress or not.
local YOUNG_MS = 30000
---A server that ended earlier is no longer mentioned: the user may have stopped it.
local MENTIONED_MS = 10 * 60 * 1000

local M = {}

---@alias claude-code.ServerCondition "idle"|"starting"|"indexing"|"failing"|"unindexed"|"ended"|"hangs"

---@class claude-code.LanguageServerState
---@field name string
---@field state claude-code.ServerCondition
---@field title? string its error

---@class claude-code.SeenServer
---@field name string
---@field filetypes table<string, true>
---@field attached number by uv.now()
---@field gone? number by uv.now()
---@field report? { state: "indexing"|"failing", title?: string } what it has reported of itself last

local seen = {} ---@type table<integer, claude-code.SeenServer> by client
local events ---@type claude-code.Autocommands?

---rust-analyzer's, where the client asks for it: { health, quiescent, message? }.
local STATUS = "experimental/serverStatus"

---@param inner? function
---@param err any
---@param params any
---@param ctx lsp.HandlerContext
---@param config any
local function on_status(inner, err, params, ctx, config)
  local server = seen[ctx.client_id]
  if server and type(params) == "table" then
    server.report = params.health == "error" and { state = "failing", title = params.message }
      or params.quiescent == false and { state = "indexing" }
      or nil
  end
  return inner and inner(err, params, ctx, config) or nil
end

---@param client vim.lsp.Client
---@param bufs integer[] that it serves
local function note(client, bufs)
  seen[client.id] = seen[client.id] or { name = client.name, filetypes = {}, attached = uv.now() }
  for _, buf in ipairs(bufs) do
    seen[client.id].filetypes[vim.bo[buf].filetype] = true
  end
  lsp.wrap_all(client, STATUS, on_status)
end

---Notes from now on which servers attach.
function M.start()
  if events then
    return
  end
  events = autocommands.new("language")
  events:on("LspAttach", function(buf, args)
    local client = vim.lsp.get_client_by_id(args.data.client_id)
    if client then
      note(client, { buf })
    end
  end)
  for _, client in ipairs(lsp.clients()) do
    -- How long it has been there is not known; it has not been seen to read the project.
    note(client, vim.tbl_keys(client.attached_buffers or {}))
  end
end

---@param client vim.lsp.Client
---@return claude-code.LanguageServerState
function M.state_of(client)
  local report = (seen[client.id] or {}).report or { state = "idle" }
  return {
    name = client.name,
    state = client:is_stopped() and "ended" or lsp.busy_with(client) or report.state,
    title = report.title,
  }
end

local function has_database(folder)
  return vim.uv.fs_stat(folder .. "/compile_commands.json") ~= nil
    or vim.uv.fs_stat(folder .. "/build/compile_commands.json") ~= nil
end

---clangd indexes the files of a compilation database; without one, those that are open (clangd 19).
---@param client vim.lsp.Client
---@return boolean
function M.is_unindexed(client)
  local command = type(client.config.cmd) == "table" and client.config.cmd or {}
  if not vim.fs.basename(command[1] or ""):find("^clangd") then
    return false
  end
  for _, argument in ipairs(command) do
    if argument:find("^%-%-background%-index=[0f]") then
      return true
    elseif argument:find("^%-%-compile%-commands%-dir") then
      return false
    end
  end
  local buf = next(client.attached_buffers or {})
  local name = buf and vim.api.nvim_buf_get_name(buf) or ""
  return name ~= "" and not vim.iter(vim.fs.parents(name)):any(has_database)
end

---@param client vim.lsp.Client
---@return boolean may it still be reading the project, without saying so?
function M.is_young(client)
  local known = seen[client.id]
  return not known or uv.now() - known.attached < YOUNG_MS
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

---The servers of a buffer that can answer such a request, those that run in other programs alone.
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

---Names of servers that served this file type, ended in the last ten minutes, and were not started again.
---@param filetype string
---@return string[]
function M.ended(filetype)
  local names, running = {}, {}
  for _, client in ipairs(lsp.clients({ _uninitialized = true })) do
    running[client.id], running[client.name] = true, true
  end
  for id, server in pairs(seen) do
    if not running[id] then
      server.gone = server.gone or uv.now()
      local is_recent = uv.now() - server.gone < MENTIONED_MS
      if is_recent and not running[server.name] and server.filetypes[filetype] then
        names[#names + 1] = server.name
        running[server.name] = true
      end
    end
  end
  table.sort(names)
  return names
end

return M
