--- Which files were written or reloaded and still wait for their language servers' report.
local api = vim.api

---Under this name our handler stands among vim.diagnostic's own (signs, underline, …). It is the
---only public place that says for which namespace a list was set, an empty list included.
local HANDLER = "claude-code"

---How long a server that never gave diagnostics is waited for, in ms.
local PATIENCE_MS = 5000

local M = {}

local group ---@type integer?
local changed = function() end
---Buffer → clients (id → "name.id", the end of their namespaces' names) that owe a report.
local owed = {} ---@type table<integer, table<integer, string>>
local spoken = {} ---@type table<string, true> labels of clients that reported after a write
local silent = {} ---@type table<string, true> labels of those that never did

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

---A server that pushes diagnostics does not say so beforehand. One that was given its time and has
---never spoken gives none (Copilot and the like): nobody waits for it again.
---@param buf integer
---@param clients table<integer, string>
local function give_up_later(buf, clients)
  vim.defer_fn(function()
    for id, name in pairs(clients) do
      if not spoken[name] and owed[buf] and owed[buf][id] then
        silent[name] = true
        settled(buf, id)
      end
    end
  end, PATIENCE_MS)
end

---A buffer's file has new contents on disk: its servers are expected to speak.
---@param buf integer
function M.written(buf)
  if not group or not package.loaded["vim.lsp"] then
    return
  end
  local clients = {}
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf })) do
    if not silent[label(client)] then
      clients[client.id] = label(client)
    end
  end
  owed[buf] = next(clients) and clients or nil
  if next(clients) then
    give_up_later(buf, vim.deepcopy(clients))
  end
  changed()
end

---@param namespace integer
---@param buf integer
local function reported(namespace, buf)
  if not owed[buf] and not next(silent) then
    return
  end
  local known = vim.diagnostic.get_namespaces()[namespace]
  local rest = lsp_part(known and known.name or "")
  if not rest then
    return
  end
  local function is_its(name)
    return rest == name or vim.startswith(rest, name .. ".")
  end
  for id, name in pairs(vim.deepcopy(owed[buf] or {})) do
    if is_its(name) then
      spoken[name] = true
      settled(buf, id)
    end
  end
  for name in pairs(vim.deepcopy(silent)) do
    if is_its(name) then
      silent[name] = nil
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
