--- What is known of language servers: whether they report at all, whether they say on which text, and
--- how long they take. From that: when a report is to be believed.
local reports = require("claude-code.editor.diagnostics.reports")

---Stillness after a report on the right version: some servers report twice.
local QUIET_MS = 150
---… after one that is about the new text by all signs, though no version says so.
local UNSURE_QUIET_MS = 400
---… after one that may be about the text before, or be the first half of two, above all an empty list:
---typescript-language-server waits up to 0.8 s before it looks at a reopened file.
local DOUBTFUL_QUIET_MS = 1000
---How much longer than its last reports after a write a server is given. A slow time fades with each
---wait that ends well.
local LAG_FACTOR, LAG_FADES = 1.5, 0.9

local M = {
  ---How long a server is waited for at most, in ms. One that never reported is then known to be silent.
  PATIENCE_MS = 10000,
}

---@class claude-code.ServerKnowledge
---@field reports? boolean
---@field silent? boolean it was given its time, and never reported
---@field versioned? boolean it says which version of the text a report is about
---@field clears? boolean it empties the list of a text that is closed
---@field lag_ms? number how long after a write its last reports came, lately

---@type table<integer, claude-code.ServerKnowledge> by client
local known = {}

---@param id integer
---@return claude-code.ServerKnowledge
local function of(id)
  known[id] = known[id] or {}
  return known[id]
end

---Takes over who has reported before anybody listened.
function M.start()
  known = {}
  for id in pairs(package.loaded["vim.lsp"] and reports.reporters() or {}) do
    of(id).reports = true
  end
end

function M.stop()
  known = {}
end

---A server that pushes does not say so beforehand, but it must follow the text.
---@param client vim.lsp.Client
---@return boolean
function M.gives_diagnostics(client)
  local server, capabilities = of(client.id), client.server_capabilities
  if server.silent or not client.initialized or not capabilities then
    return not server.silent
  end
  return capabilities.diagnosticProvider ~= nil
    or server.reports == true
    or capabilities.textDocumentSync ~= nil
end

---@param id integer
---@return boolean
function M.is_alive(id)
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and not client:is_stopped()
end

---@param id integer
---@return boolean is it in the middle of something, by its own word ($/progress)?
function M.is_at_work(id)
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and client.progress ~= nil and next(client.progress.pending or {}) ~= nil
end

---It was waited for, and reported.
---@param id integer
function M.paid(id)
  local server = of(id)
  server.lag_ms = server.lag_ms and server.lag_ms * LAG_FADES
end

---It was waited for in vain.
---@param id integer
function M.gave_nothing(id)
  local server = of(id)
  server.silent = not server.reports
  server.clears = nil
end

---@param buf integer
---@param id integer client
---@return string signature changes with what the client has reported
function M.signature(buf, id)
  local items = {}
  for _, namespace in ipairs(reports.namespaces(id)) do
    for _, item in ipairs(vim.diagnostic.get(buf, { namespace = namespace })) do
      items[#items + 1] = ("%d:%d:%s"):format(item.lnum, item.col, item.message)
    end
  end
  table.sort(items)
  return table.concat(items, "\0")
end

---@param report claude-code.Report
---@param took? number ms since the text was written, unless somebody has typed in it since
---@param debt? claude-code.Debt what the report may pay
function M.learn(report, took, debt)
  local server = of(report.client)
  if report.version then
    server.versioned = true
  elseif server.reports and took and took < M.PATIENCE_MS then
    server.lag_ms = math.max(took, server.lag_ms or 0)
  end
  if debt and debt.how == "reloaded" and debt.cleared and not report.version then
    server.clears = true
  end
  server.reports, server.silent = true, nil
end

---@param debt claude-code.Debt
---@param report claude-code.Report
---@return boolean
local function is_same(debt, report)
  return M.signature(report.buf, report.client) == debt.before
end

---@param debt claude-code.Debt
---@param report claude-code.Report
---@return integer? ms of stillness; nil: the report is about another text
local function quiet_after(debt, report)
  local server = of(report.client)
  if report.version then
    return report.version >= debt.version and QUIET_MS or nil
  elseif server.versioned then
    return nil -- the closed text's
  elseif debt.how == "saved" then
    return QUIET_MS
  elseif debt.how == "reloaded" and server.clears and not debt.cleared then
    return nil -- the closed text's: its empty list is still to come, or this is it
  elseif
    debt.how == "reloaded"
    and not debt.cleared
    and not report.empty
    and is_same(debt, report)
  then
    return nil -- the closed text's, or nothing has changed, in which case waiting costs only time
  elseif debt.muddled or (report.empty and not (debt.cleared and server.clears)) then
    return DOUBTFUL_QUIET_MS
  end
  return UNSURE_QUIET_MS
end

---When a debt counts as paid by this report, if no other one comes.
---@param debt claude-code.Debt
---@param report claude-code.Report
---@param now number ms
---@return number? due ms; nil: not by this report
function M.due(debt, report, now)
  local quiet = quiet_after(debt, report)
  local lag = of(report.client).lag_ms
  if quiet and lag and not report.version and debt.how ~= "saved" then
    return math.max(now + quiet, debt.since + lag * LAG_FACTOR)
  end
  return quiet and now + quiet
end

---@param client vim.lsp.Client
---@param method string
---@param params table
local function notify(client, method, params)
  if vim.fn.has("nvim-0.11") == 1 then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

---A file was written outside, and its buffer shows that now. Some servers check a file only when it is
---saved (rust-analyzer runs cargo then), of which Neovim tells them only for writes of its own.
---@param buf integer
function M.tell_saved(buf)
  for _, client in ipairs(package.loaded["vim.lsp"] and vim.lsp.get_clients({ bufnr = buf }) or {}) do
    local sync = (client.server_capabilities or {}).textDocumentSync
    local save = type(sync) == "table" and sync.save
    if save then
      local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
      if type(save) == "table" and save.includeText then
        params.text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. "\n"
      end
      notify(client, "textDocument/didSave", params)
    end
  end
end

---Neovim asks servers that wait to be asked only for buffers that a window shows (0.10 to 0.12).
---@param buf integer
---@param client vim.lsp.Client
function M.pull_if_hidden(buf, client)
  local provider = (client.server_capabilities or {}).diagnosticProvider
  if not provider or #vim.fn.win_findbuf(buf) > 0 then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
  if type(provider) == "table" and type(provider.identifier) == "string" then
    params.identifier = provider.identifier
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:request("textDocument/diagnostic", params, nil, buf)
  else
    client.request("textDocument/diagnostic", params, nil, buf)
  end
end

return M
