--- Every diagnostics report of a language server: for which buffer, and on which version of its text.
local autocommands = require("claude-code.lib.autocommands")
local lsp = require("claude-code.lib.lsp")

local M = {}

---The name of our handler among vim.diagnostic's own (signs, underline, …).
local HANDLER = "claude-code.reports"

---@class claude-code.Report
---@field client integer id
---@field buf integer
---@field version? integer of the text it is about, if the server names it

---@class claude-code.ReportFollower while somebody listens
---@field on_report fun(report: claude-code.Report)
---@field in_handler boolean does a handler that we wrapped run just now?
---@field cleared? integer the namespace whose list was taken from the screen last. A list is set, then taken from the
--- screen, then announced by an event that does not name the namespace of an empty one.
---@field events claude-code.Autocommands

local follower ---@type claude-code.ReportFollower?

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
---@param now claude-code.ReportFollower
---@param buf integer
---@param items vim.Diagnostic[]
local function on_set(now, buf, items)
  local namespace = items[1] and items[1].namespace or now.cleared
  if now.in_handler or not namespace or not package.loaded["vim.lsp"] then
    return
  end
  local known = vim.diagnostic.get_namespaces()[namespace]
  local client = client_of(known and known.name or "")
  if client then
    now.on_report({ client = client, buf = buf })
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

---Wraps the handlers once language servers are in use: requiring vim.lsp costs some ms. Only they see the version,
---which vim.diagnostic does not keep. While nobody listens they do nothing.
function M.wrap_handlers()
  for method, read in pairs(package.loaded["vim.lsp"] and readers or {}) do
    lsp.wrap(vim.lsp.handlers, method, function(inner, err, result, ctx, ...)
      local now = follower
      if not now or err or type(result) ~= "table" then
        return inner(err, result, ctx, ...)
      end
      now.in_handler = true
      local ok, failure = pcall(inner, err, result, ctx, ...)
      now.in_handler = false
      if not ok then
        error(failure, 0)
      end
      local readable, report = pcall(read, result, ctx)
      if readable and report then
        now.on_report(report)
      end
    end)
  end
end

---@param on_report fun(report: claude-code.Report)
function M.start(on_report)
  local now = { on_report = on_report, in_handler = false, events = autocommands.new("reports") }
  follower = now
  vim.diagnostic.handlers[HANDLER] = {
    hide = function(namespace)
      now.cleared = namespace
    end,
  }
  now.events:on("DiagnosticChanged", function(buf, args)
    on_set(now, buf, (args.data or {}).diagnostics or {})
    now.cleared = nil
  end)
  M.wrap_handlers()
end

function M.stop()
  if follower then
    follower.events:stop()
  end
  follower, vim.diagnostic.handlers[HANDLER] = nil, nil
end

return M
