--- Which files were written or reloaded and still wait for their language servers' report.
local api = vim.api

---Under this name our handler stands among vim.diagnostic's own (signs, underline, …). It is the
---only public place that says for which namespace a list was set, an empty list included.
local HANDLER = "claude-code"

local M = {}

local group ---@type integer?
local changed = function() end
---Buffer → clients (id → "name.id", the end of their namespaces' names) that owe a report.
local owed = {} ---@type table<integer, table<integer, string>>

---@param client vim.lsp.Client
---@return string as in the names of its namespaces: `vim.lsp.lua_ls.1`, `nvim.lsp.lua_ls.1.…`
local function label(client)
  return ("%s.%d"):format(client.name, client.id)
end

---@param name string name of a namespace
---@return string? rest behind the prefix of language servers' namespaces
local function lsp_part(name)
  return name:match("^n?vim%.lsp%.(.+)$")
end

---@return table<string, true> labels of all clients that ever published diagnostics
local function publishers()
  local found = {}
  for _, namespace in pairs(vim.diagnostic.get_namespaces()) do
    local rest = lsp_part(namespace.name or "")
    if rest then
      found[rest] = true
    end
  end
  return found
end

---Servers that push diagnostics do not say so beforehand; those that have pushed will again.
---@param client vim.lsp.Client
---@param known table<string, true>
---@return boolean
local function gives_diagnostics(client, known)
  local pulls = client.server_capabilities and client.server_capabilities.diagnosticProvider
  return pulls ~= nil or known[label(client)] == true
end

---A buffer's file has new contents on disk: its servers are expected to speak.
---@param buf integer
function M.written(buf)
  if not group or not package.loaded["vim.lsp"] then
    return
  end
  local clients, known = {}, publishers()
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    if gives_diagnostics(client, known) then
      clients[client.id] = label(client)
    end
  end
  owed[buf] = next(clients) and clients or nil
  changed()
end

---@param buf integer
---@param client_id integer
local function settled(buf, client_id)
  local clients = owed[buf]
  if clients and clients[client_id] then
    clients[client_id] = nil
    owed[buf] = next(clients) and clients or nil
    changed()
  end
end

---@param namespace integer
---@param buf integer
local function reported(namespace, buf)
  if not owed[buf] then
    return
  end
  local known = vim.diagnostic.get_namespaces()[namespace]
  local rest = lsp_part(known and known.name or "")
  if not rest then
    return
  end
  for id, name in pairs(vim.deepcopy(owed[buf])) do
    if rest == name or vim.startswith(rest, name .. ".") then
      settled(buf, id)
    end
  end
end

---Paths of the files that wait, sorted.
---@return string[]
function M.owing()
  local paths = {}
  for buf in pairs(owed) do
    local path = api.nvim_buf_is_valid(buf) and require("claude-code.editor.path").of_buffer(buf)
    if path then
      paths[#paths + 1] = path
    else
      owed[buf] = nil
    end
  end
  table.sort(paths)
  return paths
end

---@param on_change fun() called when `owing` may answer something else
function M.start(on_change)
  changed = on_change
  owed = {}
  group = api.nvim_create_augroup("claude-code.settle", { clear = true })
  vim.diagnostic.handlers[HANDLER] = {
    -- Called for each list that is set, before it is shown.
    hide = function(namespace, buf)
      reported(namespace, buf)
    end,
  }
  api.nvim_create_autocmd({ "BufWritePost", "FileChangedShellPost" }, {
    group = group,
    callback = function(args)
      M.written(args.buf)
    end,
  })
  api.nvim_create_autocmd("LspDetach", {
    group = group,
    callback = function(args)
      settled(args.buf, args.data.client_id)
    end,
  })
end

function M.stop()
  if group then
    api.nvim_del_augroup_by_id(group)
    group = nil
    vim.diagnostic.handlers[HANDLER] = nil
  end
  owed = {}
  changed = function() end
end

return M
