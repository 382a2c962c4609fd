--- What language servers report of themselves beside $/progress: each in a notification of its own.
local M = {}

---@class claude-code.ServerReport
---@field state "starting"|"indexing"|"failing"
---@field title? string in the server's own words

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

local reports = {} ---@type table<integer, claude-code.ServerReport|false> by client
local wrapped = setmetatable({}, { __mode = "k" }) ---@type table<table, table<string, true>>

---@param handlers table<string, function>
---@param method string
local function wrap(handlers, method)
  wrapped[handlers] = wrapped[handlers] or {}
  if wrapped[handlers][method] then
    return
  end
  wrapped[handlers][method] = true
  local inner = handlers[method]
  handlers[method] = function(err, params, ctx, config)
    local report = type(params) == "table" and READ[method](params)
    if report ~= nil then
      reports[ctx.client_id] = report
    end
    return inner and inner(err, params, ctx, config) or nil
  end
end

---Reads what this client reports from now on: plugins bring handlers of their own.
---@param client vim.lsp.Client
function M.watch(client)
  for method in pairs(READ) do
    wrap(vim.lsp.handlers, method)
    if rawget(client.handlers or {}, method) then
      wrap(client.handlers, method)
    end
  end
end

---@param client vim.lsp.Client
---@return claude-code.ServerReport?
function M.of(client)
  return reports[client.id] or nil
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

return M
