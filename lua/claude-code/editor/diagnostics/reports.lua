--- Every diagnostics report of a language server: for which buffer, and on which version of its text.
local M = {}

---The name of our handler among vim.diagnostic's own (signs, underline, …), and of our autocommands.
local HANDLER = "claude-code.reports"

---@class claude-code.Report
---@field client integer id
---@field buf integer
---@field version? integer of the text it is about, if the server names it

---@type fun(report: claude-code.Report)?
local listener
---Does a handler that we wrapped run just now?
local in_handler = false
---@type table<string, { inner: function, outer: function }>
local wrapped = {}
---The namespace whose list was taken from the screen last. A list is set, then taken from the screen,
---then announced by an event that does not name the namespace of an empty one.
---@type integer?
local hidden

---@param report claude-code.Report
local function emit(report)
  if listener then
    listener(report)
  end
end

---@alias claude-code.ReportReader fun(result: table, ctx: lsp.HandlerContext): claude-code.Report?

---@type table<string, claude-code.ReportReader> by the message that brings a report
local readers = {
  ["textDocument/publishDiagnostics"] = function(result, ctx)
    -- Diagnostics of files that are in no buffer come too; a buffer is not made for them.
    local buf =
      require("claude-code.editor.documents.path").loaded_buffer(vim.uri_to_fname(result.uri))
    return buf and { client = ctx.client_id, buf = buf, version = result.version }
  end,
  -- Its version is that of the text when Neovim asked. "unchanged" is an answer, too.
  ["textDocument/diagnostic"] = function(_, ctx)
    return { client = ctx.client_id, buf = ctx.bufnr, version = ctx.version }
  end,
}

---Only the handlers see the version, which vim.diagnostic does not keep.
---@param method string
---@param read claude-code.ReportReader
local function wrap(method, read)
  local inner = vim.lsp.handlers[method]
  local function outer(err, result, ctx, ...)
    if not listener or err or type(result) ~= "table" then
      return inner(err, result, ctx, ...)
    end
    in_handler = true
    local ok, failure = pcall(inner, err, result, ctx, ...)
    in_handler = false
    if not ok then
      error(failure, 0)
    end
    local readable, report = pcall(read, result, ctx)
    if readable and report then
      emit(report)
    end
  end
  wrapped[method] = { inner = inner, outer = outer }
  vim.lsp.handlers[method] = outer
end

---@param client vim.lsp.Client
---@param name string of a namespace: `vim.lsp.lua_ls.1`, `nvim.lsp.lua_ls.1.…`
---@return boolean
local function owns(client, name)
  local rest = name:match("^n?vim%.lsp%.(.+)$")
  local label = ("%s.%d"):format(client.name, client.id)
  return rest ~= nil and (rest == label or vim.startswith(rest, label .. "."))
end

---@param name string of a namespace
---@return integer? id client
local function client_of(name)
  for _, client in ipairs(vim.lsp.get_clients()) do
    if owns(client, name) then
      return client.id
    end
  end
end

---A list was set by other means than the wrapped handlers: a client may bring its own.
---@param buf integer
---@param items vim.Diagnostic[]
local function on_set(buf, items)
  local namespace = items[1] and items[1].namespace or hidden
  if in_handler or not namespace or not package.loaded["vim.lsp"] then
    return
  end
  local known = vim.diagnostic.get_namespaces()[namespace]
  local client = client_of(known and known.name or "")
  if client then
    emit({ client = client, buf = buf })
  end
end

---Ids of the clients that have ever reported.
---@return table<integer, true>
function M.reporters()
  local found = {}
  for _, namespace in pairs(vim.diagnostic.get_namespaces()) do
    local id = client_of(namespace.name or "")
    if id then
      found[id] = true
    end
  end
  return found
end

---Wraps the handlers once language servers are in use: requiring vim.lsp costs some ms.
function M.wrap_handlers()
  if package.loaded["vim.lsp"] and not next(wrapped) then
    for method, read in pairs(readers) do
      wrap(method, read)
    end
  end
end

---@param on_report fun(report: claude-code.Report)
function M.start(on_report)
  listener = on_report
  vim.diagnostic.handlers[HANDLER] = {
    hide = function(namespace)
      hidden = namespace
    end,
  }
  vim.api.nvim_create_autocmd("DiagnosticChanged", {
    group = vim.api.nvim_create_augroup(HANDLER, { clear = true }),
    callback = function(args)
      on_set(args.buf, (args.data or {}).diagnostics or {})
      hidden = nil
    end,
  })
  M.wrap_handlers()
end

---A handler that another plugin has wrapped since stays, without effect.
function M.stop()
  listener = nil
  vim.diagnostic.handlers[HANDLER] = nil
  vim.api.nvim_del_augroup_by_name(HANDLER)
  for method, pair in pairs(wrapped) do
    if vim.lsp.handlers[method] == pair.outer then
      vim.lsp.handlers[method] = pair.inner
    end
  end
  wrapped = {}
end

return M
