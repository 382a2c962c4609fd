--- Tracks pending reports: one from each language server for each file that was written or reloaded. Until the report
--- comes or times out, diagnostics may be about the old text. Learns how each server reports, to know how long to wait.
local api = vim.api
local lsp = require("claude-code.lib.lsp")
local timer = require("claude-code.lib.timer")

---How often we check a server that is starting or indexing, and how long after the write it may be busy.
local BUSY_STEP_MS, BUSY_LIMIT_MS = 200, 5 * 60 * 1000
---Silence after which a report on the right version counts, since some servers report twice.
local REPEAT_MS = 150
---Silence after which a report without a version counts, since it may be about the old text: typescript-language-server
---reports twice when a text is closed, and waits up to 0.8 s before it checks a reopened text.
local SILENCE_MS = 1000
---A server without versions gets LAG_FACTOR times the time of its slowest report, which may be seconds in a big
---project. Each report in time reduces that by LAG_FADES.
local LAG_FACTOR, LAG_FADES = 1.5, 0.9

---How servers receive the text: the buffer is new to them, was closed and opened again, or was only saved.
---@alias claude-code.WriteKind "opened"|"reloaded"|"saved"

---@class claude-code.PendingReport of one server on one buffer; times are in ms
---@field name string of the server
---@field since number when the text was replaced
---@field ready number when the server was last busy
---@field timeout_ms integer from `ready` on
---@field version integer of the text
---@field kind claude-code.WriteKind
---@field due number when a report that has come counts, unless another follows; before that math.huge
---@field overlaps boolean a report on the old text was still pending

---@class claude-code.ServerKnowledge
---@field reports? boolean it has sent a report
---@field silent? boolean it has never sent a report in time
---@field skips? boolean it does not report if its diagnostics stay the same
---@field waited_for? boolean a hook has waited for it until the time-out, and it is still busy
---@field versioned? boolean its reports give the version of the text
---@field lag_ms? number recent time between a write and the report

---Limit for a report. A server that has never reported by then counts as silent.
local M = { TIMEOUT_MS = 10000 }

local reports = {} ---@type table<integer, table<integer, claude-code.PendingReport>> by buffer and client
local ended = {} ---@type table<integer, table<string, true>> names of servers that ended too early, by buffer
local known = {} ---@type table<integer, claude-code.ServerKnowledge> by client
local listeners = {} ---@type table<fun(), true>
local changes = 0
local cancel_review = function() end

local function now_ms()
  return vim.uv.hrtime() / 1e6
end

local function knowledge_of(id)
  known[id] = known[id] or {}
  return known[id]
end

---Looks up which servers have reported before.
function M.start()
  local used = vim.diagnostic.get_namespaces()
  for _, client in ipairs(lsp.clients()) do
    if used[vim.lsp.diagnostic.get_namespace(client.id)] then
      knowledge_of(client.id).reports = true
    end
  end
end

---May the server report diagnostics? A server that pushes them does not announce it, but it must synchronize texts.
function M.gives_diagnostics(client)
  local server, capabilities = knowledge_of(client.id), client.server_capabilities
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
    knowledge_of(id).waited_for = nil
  end
  return busy
end

---Notes that a hook's wait has timed out: until the server is ready, no other hook waits.
---@param id? integer nil: the server has ended, or was never started
function M.on_waited(id)
  if id then
    knowledge_of(id).waited_for = M.busy_with(id) ~= nil
  end
end

function M.is_worth_waiting(id)
  return M.busy_with(id) ~= nil and not knowledge_of(id).waited_for
end

---@param took? number ms since a text was replaced; nil: the report's text has been edited since
function M.learn(report, took)
  local server = knowledge_of(report.client)
  if report.version then
    server.versioned = true
  elseif server.reports and took and took < M.TIMEOUT_MS then
    server.lag_ms = math.max(took, server.lag_ms or 0)
  end
  server.reports, server.silent = true, nil
end

---If a server skips texts without changes and last reported no problems, its silence counts as a report.
---@return number ms of silence after the write; math.huge for other servers
local function silence_ms(id, buf)
  local server, namespace = knowledge_of(id), vim.lsp.diagnostic.get_namespace(id)
  if server.skips and #vim.diagnostic.get(buf, { namespace = namespace }) == 0 then
    return math.max(SILENCE_MS, (server.lag_ms or 0) * LAG_FACTOR)
  end
  return math.huge
end

local function on_changed()
  changes = changes + 1
  for _, listener in ipairs(vim.tbl_keys(listeners)) do
    listener()
  end
end

function M.add(buf, client, kind, timeout_ms)
  local now, id = now_ms(), client.id
  if ended[buf] then
    ended[buf][client.name] = nil
  end
  reports[buf] = reports[buf] or {}
  reports[buf][id] = {
    name = client.name,
    since = now,
    ready = now,
    timeout_ms = math.min(timeout_ms, silence_ms(id, buf)),
    version = vim.lsp.util.buf_versions[buf] or 0,
    kind = kind,
    due = math.huge,
    overlaps = reports[buf][id] ~= nil and kind ~= "opened",
  }
  on_changed()
end

---@param id integer client
function M.remove(buf, id)
  if reports[buf] and reports[buf][id] then
    reports[buf][id] = nil
    if next(reports[buf]) == nil then
      reports[buf] = nil
    end
    on_changed()
  end
end

---@return boolean is_over the report has come, or will not come
local function is_over(buf, id, report, now)
  if not api.nvim_buf_is_valid(buf) then
    return true
  elseif not M.is_running(id) then
    ended[buf] = ended[buf] or {}
    ended[buf][report.name] = true
    return true
  end
  -- A server that starts or indexes may report more. Some servers never report the end of their work.
  local is_awaited = report.due == math.huge or M.is_worth_waiting(id)
  if M.busy_with(id) and is_awaited and now - report.since < BUSY_LIMIT_MS then
    report.ready, report.due = now, math.max(report.due, now + BUSY_STEP_MS)
  end
  local end_at, server = report.ready + report.timeout_ms, knowledge_of(id)
  if report.due <= now then
    server.lag_ms = server.lag_ms and server.lag_ms * LAG_FADES
  elseif end_at <= now and report.due == math.huge then
    local had_time = report.timeout_ms >= M.TIMEOUT_MS
    server.silent = had_time and not server.reports
    server.skips = server.skips or (had_time and server.reports)
  end
  return math.min(report.due, end_at) <= now
end

---Removes reports that have come or timed out, and schedules the next review.
function M.review()
  local now, first = now_ms(), math.huge
  for buf, by_client in pairs(vim.deepcopy(reports)) do
    for id in pairs(by_client) do
      local report = reports[buf][id]
      if is_over(buf, id, report, now) then
        M.remove(buf, id)
      else
        local busy_at = M.busy_with(id) and now + BUSY_STEP_MS or math.huge
        first = math.min(first, busy_at, report.due, report.ready + report.timeout_ms)
      end
    end
  end
  cancel_review()
  if first < math.huge then
    cancel_review = timer.once(first - now, M.review)
  end
end

---@return number? due time in ms when the report counts, unless another follows; nil: it is about the old text
local function due_of(pending, report, now)
  local server = knowledge_of(report.client)
  if report.version then
    return report.version >= pending.version and now + REPEAT_MS or nil
  elseif server.versioned then
    return nil
  elseif pending.kind == "saved" then
    return now + REPEAT_MS
  end
  return math.max(now + SILENCE_MS, pending.since + (server.lag_ms or 0) * LAG_FACTOR)
end

---@param id integer client
---@param report? claude-code.Report nil: the server has checked the text, and its last report is still right
function M.on_report(buf, id, report)
  local expected = (reports[buf] or {})[id]
  if expected then
    local now = now_ms()
    expected.due = not report and now or due_of(expected, report, now) or expected.due
    M.review()
  end
end

---@param id integer client
function M.is_expected(buf, id)
  return (reports[buf] or {})[id] ~= nil
end

---Is a report of this server, or of an ended server with the same name, missing?
function M.lacks(buf, client)
  return M.is_expected(buf, client.id) or (ended[buf] or {})[client.name] ~= nil
end

function M.is_pending(buf)
  return reports[buf] ~= nil
end

---Was a report pending when the buffer's text was replaced?
function M.was_pending(buf)
  return vim.iter(pairs(reports[buf] or {})):any(function(_, report)
    return report.overlaps
  end)
end

---@class claude-code.MissingReport
---@field id? integer client; nil: it has ended
---@field name string of the server; the file type if no server has seen the buffer
---@field state "starting"|"indexing"|"late"|"ended"|"asleep"

---@return claude-code.MissingReport[] except for servers that never report, or skip texts without changes
function M.missing(buf)
  local missing = {}
  for id, report in pairs(reports[buf] or {}) do
    local busy = M.busy_with(id)
    local client, server = vim.lsp.get_client_by_id(id), knowledge_of(id)
    local is_pulled = ((client or {}).server_capabilities or {}).diagnosticProvider ~= nil
    local reports_always = (server.reports or is_pulled) and not server.skips
    if busy or reports_always and report.timeout_ms >= M.TIMEOUT_MS then
      missing[#missing + 1] = { id = id, name = report.name, state = busy or "late" }
    end
  end
  for name in pairs(ended[buf] or {}) do
    missing[#missing + 1] = { name = name, state = "ended" }
  end
  return missing
end

---@return string[] paths of files with a pending report, sorted
function M.paths()
  local paths = {}
  for buf in pairs(reports) do
    local path = api.nvim_buf_is_valid(buf)
      and require("claude-code.editor.documents.path").of_buffer(buf)
    paths[#paths + 1] = path or nil
  end
  table.sort(paths)
  return paths
end

---@return integer changes a new number once `is_pending` or `paths` may have changed
function M.changes()
  return changes
end

---@param callback fun() called when `is_pending` or `paths` may have changed
---@return fun() cancel
function M.on_change(callback)
  listeners[callback] = true
  return function()
    listeners[callback] = nil
  end
end

function M.clear()
  cancel_review()
  reports, ended = {}, {}
end

return M
