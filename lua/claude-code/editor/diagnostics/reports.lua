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
