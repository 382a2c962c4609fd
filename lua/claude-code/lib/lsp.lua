--- Neovim's clients of language servers. Queries do not load vim.lsp, which takes some ms, for a user without servers.
local M = {}

---Our handlers, by the table of handlers that configurations share, and by method.
local wrapped = setmetatable({}, { __mode = "k" }) ---@type table<table, table<string, function>>

---@param filter? vim.lsp.get_clients.Filter
function M.clients(filter)
  return package.loaded["vim.lsp"] and vim.lsp.get_clients(filter) or {}
end

---@return vim.lsp.Client[] including clients that are starting
function M.of_buffer(buf)
  return M.clients({ bufnr = buf, _uninitialized = true })
end

---@return string names for a sentence
function M.names(clients)
  local names = vim.tbl_map(function(client)
    return client.name
  end, clients)
  return table.concat(names, ", ")
end

---@param client vim.lsp.Client
---@return "starting"|"indexing"|nil reason why it does not answer yet; "indexing": some work ($/progress) has not ended
function M.busy_with(client)
  if not client.initialized then
    return "starting"
  end
  return client.progress and next(client.progress.pending or {}) and "indexing" or nil
end

---Calls a method of a client: `call(client, "notify", METHOD, PARAMS)`.
---TODO(0.10): methods of a client take it as their first argument since 0.11.
---@param name "notify"|"request"|"cancel_request"|"stop"
---@param ... any the method's own arguments
---@return any ... what it returns
function M.call(client, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

---Replaces a handler, and does so again if another plugin has replaced ours.
local function wrap(handlers, method, outer)
  wrapped[handlers] = wrapped[handlers] or {}
  local inner = handlers[method]
  if not inner or inner ~= wrapped[handlers][method] then
    handlers[method] = function(...)
      return outer(inner, ...)
    end
    wrapped[handlers][method] = handlers[method]
  end
end

---Wraps Neovim's handler of a method, and the client's own, which a plugin may have set.
---@param outer fun(inner: function?, err: any, result: any, ctx: lsp.HandlerContext, config: any): any
function M.wrap_all(client, method, outer)
  wrap(vim.lsp.handlers, method, outer)
  if rawget(client.handlers or {}, method) then
    wrap(client.handlers, method, outer)
  end
end

return M
