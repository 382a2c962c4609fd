---Calls a method of an LSP client: `call(client, "notify", METHOD, PARAMS)`.
---TODO(0.10): methods of a client take it as their first argument since 0.11.
---@param client vim.lsp.Client
---@param name "notify"|"request"|"cancel_request"
---@param ... any the method's own arguments
---@return any ... what it returns
return function(client, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end
