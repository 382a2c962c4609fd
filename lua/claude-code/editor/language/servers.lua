--- The language servers that the user's Neovim runs: which can answer a question, and whether they are
--- ready to.
local autocommands = require("claude-code.lib.autocommands")
local lsp = require("claude-code.lib.lsp")
local uv = vim.uv

---Until then a server may still be reading the project, whether it reports progress or not.
local YOUNG_MS = 30000
---A server that ended earlier is no longer mentioned, as long as another one can answer.
local MENTIONED_MS = 10 * 60 * 1000

local M = {}

---@alias claude-code.ServerCondition "idle"|"starting"|"indexing"|"failing"|"unindexed"|"ended"|"hangs"

---@class claude-code.LanguageServerState
---@field name string
---@field state claude-code.ServerCondition
---@field percentage? integer of what it works on
---@field title? string of what it works on, or its error

---@class claude-code.SeenServer
---@field name string
---@field filetypes table<string, true>
---@field attached number by uv.now()
---@field gone? number by uv.now()
---@field progress table<any, integer|false> percentages by token
---@field report? claude-code.ServerReport|false what it has reported of itself last

local seen = {} ---@type table<integer, claude-code.SeenServer> by client
local events ---@type claude-code.Autocommands?

---@class claude-code.ServerReport
---@field state "starting"|"indexing"|"failing"
---@field title? string in the server's own words

---What servers report of themselves beside $/progress: each in a notification of its own.
---@type table<string, fun(params: table): claude-code.ServerReport|false|nil> false: all is well; nil: says
--- nothing of it
local READ = {
  -- rust-analyzer, where the client asks for it: { health, quiescent, message? }.
  ["experimental/serverStatus"] = function(params)
    if params.health == "error" then
      return { state = "failing", title = params.message }
    end
    return params.quiescent == false and { state = "indexing" }
  end,
  -- jdtls: { type, message }; other types are messages for the user.
  ["language/status"] = function(params)
    if params.type == "Starting" then
      return { state = "starting" }
    elseif params.type == "Error" then
      return { state = "failing", title = params.message }
    end
    local is_ready = params.type == "Started" or params.type == "ServiceReady"
    if is_ready then
      return false
    end
  end,
  -- Dart: { isAnalyzing }.
  ["$/analyzerStatus"] = function(params)
    return params.isAnalyzing == true and { state = "indexing" }
  end,
}

---@param id integer client
---@return claude-code.SeenServer? nil if it has ended already
local function seen_server(id)
  local client = not seen[id] and vim.lsp.get_client_by_id(id)
  if client then
    seen[id] = { name = client.name, filetypes = {}, attached = uv.now(), progress = {} }
  end
  return seen[id]
end

---Reads what this client reports from now on: plugins bring handlers of their own.
---@param client vim.lsp.Client
local function read_reports(client)
  for method, read in pairs(READ) do
    local function handle(inner, err, params, ctx, config)
      local report, server = type(params) == "table" and read(params), seen_server(ctx.client_id)
      if report ~= nil and server then
        server.report = report
      end
      return inner and inner(err, params, ctx, config) or nil
    end
    lsp.wrap(vim.lsp.handlers, method, handle)
    if rawget(client.handlers or {}, method) then
      lsp.wrap(client.handlers, method, handle)
    end
  end
end

---@param client vim.lsp.Client
---@param buf? integer
local function note(client, buf)
  read_reports(client)
  local server = seen_server(client.id)
  if server and buf and vim.api.nvim_buf_is_valid(buf) then
    server.filetypes[vim.bo[buf].filetype] = true
  end
end

---@param data { client_id: integer, params?: table }
local function on_progress(data)
  local params, server = data.params or {}, seen_server(data.client_id)
  local value = type(params.value) == "table" and params.value or {}
  local token = params.token
  if server and value.kind == "end" then
    server.progress[token] = nil
  elseif server and token ~= nil then
    server.progress[token] = value.percentage or server.progress[token] or false
  end
end

---Notes from now on which servers attach, and how far their work is.
function M.start()
  if events then
    return
  end
  events = autocommands.new("language")
  events:on("LspAttach", function(buf, args)
    local client = vim.lsp.get_client_by_id(args.data.client_id)
    if client then
      note(client, buf)
    end
  end)
  events:on("LspProgress", function(_, args)
    on_progress(args.data)
  end)
  for _, client in ipairs(lsp.clients()) do
    for buf in pairs(client.attached_buffers or {}) do
      note(client, buf)
    end
    -- How long it has been there is not known; it has not been seen to read the project.
    note(client)
  end
end

---@param client vim.lsp.Client
---@return claude-code.LanguageServerState
function M.state_of(client)
  local state = { name = client.name, state = "idle" } ---@type claude-code.LanguageServerState
  local server = seen[client.id] or { progress = {} }
  if client:is_stopped() then
    state.state = "ended"
  elseif not client.initialized then
    state.state = "starting"
  elseif client.progress and next(client.progress.pending or {}) then
    local token, title = next(client.progress.pending)
    state.state = "indexing"
    state.title = type(title) == "string" and title or nil
    state.percentage = server.progress[token] or nil
  elseif server.report then
    state.state, state.title = server.report.state, server.report.title
  end
  return state
end

---@param folder string
---@return boolean
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

---Names of servers that served this file type, ended, and were not started again.
---@param filetype string
---@param only_recent boolean those of the last ten minutes
---@return string[]
function M.ended(filetype, only_recent)
  local names, running = {}, {}
  for _, client in ipairs(lsp.clients({ _uninitialized = true })) do
    running[client.id], running[client.name] = true, true
  end
  for id, server in pairs(seen) do
    if not running[id] then
      server.gone = server.gone or uv.now()
      local is_recent = uv.now() - server.gone < MENTIONED_MS
      if
        not running[server.name]
        and server.filetypes[filetype]
        and (is_recent or not only_recent)
      then
        names[#names + 1] = server.name
        running[server.name] = true
      end
    end
  end
  table.sort(names)
  return names
end

return M
