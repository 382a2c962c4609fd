--- Learns how language servers report: whether they report at all, whether they give the version of the text, and how
--- long they take. Sends requests that Neovim does not send.
local lsp = require("claude-code.lib.lsp")

---Silence after which a report on the right version counts, since some servers report twice.
local REPEAT_MS = 150
---Silence after which a report without a version counts, since it may be about the old text: typescript-language-server
---reports twice when a text is closed, and waits up to 0.8 s before it checks a reopened text.
local SILENCE_MS = 1000
---A server without versions gets LAG_FACTOR times the time of its slowest report, which may be seconds in a big
---project. Each report in time reduces that by LAG_FADES.
local LAG_FACTOR, LAG_FADES = 1.5, 0.9

local COMMAND = "typescript.tsserverRequest"
local CHECKS = { "syntacticDiagnosticsSync", "semanticDiagnosticsSync" }

---Limit for a report. A server that has never reported by then counts as silent.
local M = { TIMEOUT_MS = 10000 }

---@class claude-code.ServerKnowledge
---@field reports? boolean it has sent a report
---@field silent? boolean it has never sent a report in time
---@field skips? boolean it does not report if its diagnostics stay the same
---@field waited_for? boolean a hook has waited for it in vain, and it is still busy
---@field versioned? boolean its reports give the version of the text
---@field lag_ms? number recent time between a write and the report

---@type table<integer, claude-code.ServerKnowledge> by client
local known = {}

local function of(id)
  known[id] = known[id] or {}
  return known[id]
end

---Looks up which servers have reported before.
function M.start()
  local used = vim.diagnostic.get_namespaces()
  for _, client in ipairs(lsp.clients()) do
    if used[vim.lsp.diagnostic.get_namespace(client.id)] then
      of(client.id).reports = true
    end
  end
end

---May the server report diagnostics? A server that pushes them does not announce it, but it must synchronize texts.
function M.gives_diagnostics(client)
  local server, capabilities = of(client.id), client.server_capabilities
  if server.silent or not client.initialized or not capabilities then
    return not server.silent
  end
  return capabilities.diagnosticProvider ~= nil
    or server.reports == true
    or capabilities.textDocumentSync ~= nil
end

function M.is_running(id)
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and not client:is_stopped()
end

---@return "starting"|"indexing"|nil
function M.busy_with(id)
  local client = vim.lsp.get_client_by_id(id)
  local busy = client and lsp.busy_with(client)
  if client and not busy then
    of(id).waited_for = nil
  end
  return busy
end

---Notes that a hook has waited in vain: until the server is ready, no other hook waits.
---@param id? integer nil: the server has ended, or was never started
function M.on_waited(id)
  if id then
    of(id).waited_for = M.busy_with(id) ~= nil
  end
end

function M.is_worth_waiting(id)
  return M.busy_with(id) ~= nil and not of(id).waited_for
end

---Does the server report on each text, as far as is known?
function M.reports_always(id)
  local client, server = vim.lsp.get_client_by_id(id), of(id)
  local is_pulled = ((client or {}).server_capabilities or {}).diagnosticProvider ~= nil
  return (server.reports or is_pulled) and not server.skips or false
end

---@param id integer of a server whose report came in time
function M.on_resolved(id)
  local server = of(id)
  server.lag_ms = server.lag_ms and server.lag_ms * LAG_FADES
end

---If a server skips texts without changes and last reported no problems, its silence counts as a report.
---@return number ms of silence after the write; math.huge for other servers
function M.silence_ms(id, buf)
  local server = of(id)
  local namespace = vim.lsp.diagnostic.get_namespace(id)
  if server.skips and #vim.diagnostic.get(buf, { namespace = namespace }) == 0 then
    return math.max(SILENCE_MS, (server.lag_ms or 0) * LAG_FACTOR)
  end
  return math.huge
end

---@param id integer of a server whose report did not come in time
function M.on_timeout(id, timeout_ms)
  local server = of(id)
  local had_time = timeout_ms >= M.TIMEOUT_MS
  server.silent = had_time and not server.reports
  server.skips = server.skips or (had_time and server.reports)
end

---@param took? number ms since a text was replaced; nil: the report's text has been edited since
function M.learn(report, took)
  local server = of(report.client)
  if report.version then
    server.versioned = true
  elseif server.reports and took and took < M.TIMEOUT_MS then
    server.lag_ms = math.max(took, server.lag_ms or 0)
  end
  server.reports, server.silent = true, nil
end

---@param pending claude-code.PendingReport
---@return number? due time in ms when the report counts, unless another follows; nil: it is about the old text
function M.due(pending, report, now)
  local server = of(report.client)
  if report.version then
    return report.version >= pending.version and now + REPEAT_MS or nil
  elseif server.versioned then
    return nil
  elseif pending.kind == "saved" then
    return now + REPEAT_MS
  end
  return math.max(now + SILENCE_MS, pending.since + (server.lag_ms or 0) * LAG_FACTOR)
end

---Reports the write of another program as a save, which Neovim does not: rust-analyzer runs cargo only after a save.
---@param buf integer reloaded
function M.did_save(buf)
  for _, client in ipairs(lsp.clients({ bufnr = buf })) do
    local sync = (client.server_capabilities or {}).textDocumentSync
    local save = type(sync) == "table" and sync.save
    if save then
      local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
      if type(save) == "table" and save.includeText then
        params.text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. "\n"
      end
      lsp.call(client, "notify", "textDocument/didSave", params)
    end
  end
end

---Pulls diagnostics for a buffer without a window, which Neovim 0.10 to 0.12 does not.
function M.pull_if_out_of_sight(buf, client)
  local provider = (client.server_capabilities or {}).diagnosticProvider
  if not provider or #vim.fn.win_findbuf(buf) > 0 then
    return
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
  if type(provider) == "table" and type(provider.identifier) == "string" then
    params.identifier = provider.identifier
  end
  lsp.call(client, "request", "textDocument/diagnostic", params, nil, buf)
end

---@param line integer 1-based
local function key(line, code, message)
  return ("%d:%s:%s"):format(line, code, message)
end

---@return string[] sorted keys of the errors and warnings in the last report
local function reported(buf, client)
  local keys = {}
  local namespace = vim.lsp.diagnostic.get_namespace(client.id)
  for _, item in ipairs(vim.diagnostic.get(buf, { namespace = namespace })) do
    if item.severity <= vim.diagnostic.severity.WARN then
      keys[#keys + 1] = key(item.lnum + 1, item.code, item.message)
    end
  end
  table.sort(keys)
  return keys
end

local function ask(buf, client, on_unchanged)
  local tick, keys, answers = vim.api.nvim_buf_get_changedtick(buf), {}, 0
  local function on_answer(err, result)
    local body = not err and type(result) == "table" and result.body
    if type(body) ~= "table" then
      return
    end
    for _, item in ipairs(body) do
      keys[#keys + 1] = key(item.start.line, item.code, item.text)
    end
    answers = answers + 1
    table.sort(keys)
    local is_current = vim.api.nvim_buf_is_loaded(buf)
      and vim.api.nvim_buf_get_changedtick(buf) == tick
    if answers == #CHECKS and is_current and vim.deep_equal(keys, reported(buf, client)) then
      on_unchanged()
    end
  end
  local file = vim.uri_to_fname(vim.uri_from_bufnr(buf))
  for _, check in ipairs(CHECKS) do
    local params = { command = COMMAND, arguments = { check, { file = file } } }
    lsp.call(client, "request", "workspace/executeCommand", params, on_answer, buf)
  end
end

---Calls back if the problems of the text are still those of the last report. In that case the servers around tsserver
---may not report: typescript-language-server 5.1 if there are no problems, and vtsls never. They forward requests to
---tsserver, which answers once it has checked the text.
---@param client vim.lsp.Client initialized
function M.check_by_tsserver(buf, client, on_unchanged)
  local provider = (client.server_capabilities or {}).executeCommandProvider or {}
  if vim.list_contains(provider.commands or {}, COMMAND) then
    ask(buf, client, on_unchanged)
  end
end

return M
