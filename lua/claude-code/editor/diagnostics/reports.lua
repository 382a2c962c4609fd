--- Every diagnostics report of a language server: for which buffer, and on which version of its text.
local lsp = require("claude-code.lib.lsp")

local M = {}

---@class claude-code.Report
---@field client integer id
---@field buf integer
---@field version? integer of the text it is about, if the server names it

local on_report ---@type fun(report: claude-code.Report)? while somebody listens

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

---Wraps the handlers of the servers that there are. Only they see the version, which vim.diagnostic does not keep.
---While nobody listens they do nothing.
function M.wrap_handlers()
  for _, client in ipairs(lsp.clients()) do
    for method, read in pairs(readers) do
      lsp.wrap_all(client, method, function(inner, err, result, ctx, ...)
        local answer = inner(err, result, ctx, ...)
        local readable, report = pcall(read, result, ctx)
        if on_report and not err and readable and report then
          on_report(report)
        end
        return answer
      end)
    end
  end
end

---@param callback fun(report: claude-code.Report)
function M.start(callback)
  on_report = callback
  M.wrap_handlers()
end

function M.stop()
  on_report = nil
end

return M
