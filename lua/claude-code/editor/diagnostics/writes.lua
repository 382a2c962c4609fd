--- Follows writes and reloads, and expects reports of language servers on them.
local api, uv = vim.api, vim.uv
local autocommands = require("claude-code.lib.autocommands")
local documents = require("claude-code.editor.documents")
local lsp = require("claude-code.lib.lsp")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")

---Limit if a text is saved that the server has reported on: only checks on save may change its report.
local SAVE_TIMEOUT_MS = 1000
---How long a server may take to start: its configuration may first run a program to find the project's root.
local ATTACH_MS = 1000

---Command that forwards a request to tsserver, and the requests that check a file.
local COMMAND = "typescript.tsserverRequest"
local CHECKS = { "syntacticDiagnosticsSync", "semanticDiagnosticsSync" }

local M = {}

---@class claude-code.WrittenText of a buffer
---@field at number ms, when it was replaced; servers that attach soon after report on it, too
---@field tick integer
---@field kind claude-code.WriteKind

---@class claude-code.WriteFollower
---@field events claude-code.Autocommands
---@field followers table<table, fun(buf: integer, event: claude-code.WriteEvent)>
---@field texts table<integer, claude-code.WrittenText> by buffer
---@field last number ms, when any text was replaced, which may change diagnostics of other files
---@field reported table<integer, table<integer, integer>> ticks at the last report, by buffer and client

local EVENTS = { "BufReadPre", "BufWipeout", "BufWritePost", "FileChangedShellPost" }
---@alias claude-code.WriteEvent "BufReadPre"|"BufWipeout"|"BufWritePost"|"FileChangedShellPost"

local follow ---@type claude-code.WriteFollower? nil: there are no followers

local function now_ms()
  return uv.hrtime() / 1e6
end

---@class claude-code.Report
---@field client integer id
---@field buf integer
---@field version? integer of the text, if the server gives it

---@alias claude-code.ReportReader fun(result: table, ctx: lsp.HandlerContext): claude-code.Report?

---@type table<string, claude-code.ReportReader> by method
local readers = {
  ["textDocument/publishDiagnostics"] = function(result, ctx)
    -- Servers also report on files that no buffer holds.
    local buf = path.loaded_buffer(vim.uri_to_fname(result.uri))
    return buf and { client = ctx.client_id, buf = buf, version = result.version }
  end,
  -- The context has the version that Neovim asked about. The answer "unchanged" counts, too.
  ["textDocument/diagnostic"] = function(_, ctx)
    return { client = ctx.client_id, buf = ctx.bufnr, version = ctx.version }
  end,
}

local function on_report(now, report)
  local id, buf = report.client, report.buf
  local tick, text = api.nvim_buf_get_changedtick(buf), now.texts[buf]
  local took = text and text.tick == tick and now_ms() - now.last or nil
  now.reported[buf] = now.reported[buf] or {}
  now.reported[buf][id] = tick
  pending.learn(report, took)
  pending.on_report(buf, id, report)
end

---Wraps the handlers of all servers, since vim.diagnostic does not keep the version of a report.
local function wrap_handlers()
  for _, client in ipairs(lsp.clients()) do
    for method, read in pairs(readers) do
      lsp.wrap_all(client, method, function(inner, err, result, ctx, ...)
        local answer = inner(err, result, ctx, ...)
        local readable, report = pcall(read, result, ctx)
        if follow and not err and readable and report then
          on_report(follow, report)
        end
        return answer
      end)
    end
  end
end

---Pulls diagnostics for a buffer without a window, which Neovim 0.10 to 0.12 does not.
local function pull_if_out_of_sight(buf, client)
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
  local namespace = vim.lsp.diagnostic.get_namespace(client.id)
  local filter = { namespace = namespace, severity = { min = vim.diagnostic.severity.WARN } }
  local keys = vim.tbl_map(function(item)
    return key(item.lnum + 1, item.code, item.message)
  end, vim.diagnostic.get(buf, filter))
  table.sort(keys)
  return keys
end

---Calls back if the problems of the text are still those of the last report. In that case the servers around tsserver
---may not report: typescript-language-server 5.1 if there are no problems, and vtsls never. They forward requests to
---tsserver, which answers once it has checked the text.
---@param client vim.lsp.Client initialized
local function check_by_tsserver(buf, client, on_unchanged)
  local provider = (client.server_capabilities or {}).executeCommandProvider or {}
  if not vim.list_contains(provider.commands or {}, COMMAND) then
    return
  end
  local tick, keys, answers = api.nvim_buf_get_changedtick(buf), {}, 0
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
    local is_current = api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_changedtick(buf) == tick
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

---@param is_known? boolean the server has reported on this text
local function expect(buf, client, kind, is_known)
  if not pending.gives_diagnostics(client) then
    return
  end
  pending.add(buf, client, kind, is_known and SAVE_TIMEOUT_MS or pending.TIMEOUT_MS)
  if not client.initialized then
    return
  elseif kind ~= "saved" then
    pull_if_out_of_sight(buf, client)
  end
  check_by_tsserver(buf, client, function()
    pending.on_report(buf, client.id)
  end)
end

---Expects a report from each server of the buffer.
local function on_write(buf, kind)
  if not follow then
    return
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  follow.last = now_ms()
  follow.texts[buf] = { at = follow.last, tick = tick, kind = kind }
  wrap_handlers()
  for _, client in ipairs(lsp.of_buffer(buf)) do
    local is_known = kind == "saved" and (follow.reported[buf] or {})[client.id] == tick
    expect(buf, client, kind, is_known)
  end
  pending.review()
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
        params.text = table.concat(api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. "\n"
      end
      lsp.call(client, "notify", "textDocument/didSave", params)
    end
  end
end

---Loads a file and expects a report from each of its servers.
---@param name string in normal form
---@return integer? buf, string? failure if it is too big
function M.load(name)
  local buf, failure = require("claude-code.editor.documents.background").load(name)
  if buf then
    on_write(buf, "opened")
  end
  return buf, failure
end

---Expects reports from servers that are starting for the buffer, which no event announces.
function M.expect_starting(buf)
  if not follow or not follow.texts[buf] then
    return
  end
  for _, client in ipairs(lsp.of_buffer(buf)) do
    if not client.initialized and not pending.is_expected(buf, client.id) then
      expect(buf, client, "opened")
    end
  end
  pending.review()
end

---Is a server configured for the file type?
---TODO(0.11): vim.lsp.get_configs() came with 0.12.
local is_configured = require("claude-code.lib.timer").remembered(function(filetype)
  return package.loaded["vim.lsp"] ~= nil
    and vim.lsp.get_configs ~= nil
    and #vim.lsp.get_configs({ enabled = true, filetype = filetype }) > 0
end)

local function lacks_server(buf)
  return is_configured(vim.bo[buf].filetype) and #lsp.of_buffer(buf) == 0
end

---May a server still start for a buffer that has just been loaded?
function M.is_attaching(buf)
  local text = follow and follow.texts[buf]
  local is_new = text and text.kind == "opened" and now_ms() - text.at < ATTACH_MS
  return is_new and not documents.is_asleep(buf) and lacks_server(buf) or false
end

---@return claude-code.MissingReport[] including servers that would start if the user opened such a file
function M.missing(buf)
  local missing = pending.missing(buf)
  if documents.is_asleep(buf) and lacks_server(buf) then
    missing[#missing + 1] = { name = vim.bo[buf].filetype, state = "asleep" }
  end
  return missing
end

---@param id integer client
local function on_attach(now, buf, id)
  local client, text = vim.lsp.get_client_by_id(id), now.texts[buf]
  wrap_handlers()
  if not client or not text then
    return
  elseif now_ms() - text.at < pending.TIMEOUT_MS or pending.lacks(buf, client) then
    pending.remove(buf, id)
    expect(buf, client, "opened")
    pending.review()
  end
end

---Keeps a late report on the old text from looking like one on the new text: a reload closes the text for language
---servers and opens it again with its old version (measured with Neovim 0.12; 0.10 always sends 0). Neovim takes the
---buffer's tick as the version, and a reload adds one to it.
---@param buf integer about to be read
local function renumber(buf)
  if next(lsp.clients({ bufnr = buf })) then
    vim.lsp.util.buf_versions[buf] = api.nvim_buf_get_changedtick(buf) + 1
  end
end

local function on_event(now, buf, event)
  if event == "BufReadPre" then
    renumber(buf)
  elseif event == "BufWipeout" then
    now.texts[buf], now.reported[buf] = nil, nil
    vim.schedule(pending.review)
  else
    on_write(buf, event == "BufWritePost" and "saved" or "reloaded")
  end
  for _, follower in pairs(now.followers) do
    follower(buf, event)
  end
end

local function start()
  local events = autocommands.new("writes")
  local now = { events = events, followers = {}, texts = {}, last = 0, reported = {} }
  pending.start()
  wrap_handlers()
  events:on(EVENTS, function(buf, args)
    on_event(now, buf, args.event)
  end)
  events:on("LspAttach", function(buf, args)
    on_attach(now, buf, args.data.client_id)
  end)
  events:on("LspDetach", function(buf, args)
    if pending.is_running(args.data.client_id) then
      pending.remove(buf, args.data.client_id)
    end
    pending.review()
  end)
  return now
end

---@param callback fun(buf: integer, event: claude-code.WriteEvent) called after a reload before servers see the text
---@return fun() cancel
function M.follow(callback)
  local now, follower = follow or start(), {}
  follow = now
  now.followers[follower] = callback
  return function()
    now.followers[follower] = nil
    if follow == now and next(now.followers) == nil then
      follow = nil
      now.events:stop()
      pending.clear()
    end
  end
end

return M
