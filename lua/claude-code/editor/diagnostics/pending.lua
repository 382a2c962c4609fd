--- Tracks pending reports: one from each language server for each file that was written or reloaded. Until the report
--- comes or times out, diagnostics may be about the old text.
local api = vim.api
local servers = require("claude-code.editor.diagnostics.servers")
local timer = require("claude-code.lib.timer")

---How often a server that starts or indexes is checked, and how long after the write it may be busy.
local BUSY_STEP_MS, BUSY_LIMIT_MS = 200, 5 * 60 * 1000

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

local M = {}

---@class claude-code.PendingState
---@field reports table<integer, table<integer, claude-code.PendingReport>> by buffer and client
---@field ended table<integer, table<string, true>> names of servers that ended before they reported, by buffer
---@field changes integer number of changes so far
---@field listeners table<fun(), true>
---@field cancel_review fun()
local state =
  { reports = {}, ended = {}, changes = 0, listeners = {}, cancel_review = function() end }

local function now_ms()
  return vim.uv.hrtime() / 1e6
end

local function on_changed()
  state.changes = state.changes + 1
  for _, listener in ipairs(vim.tbl_keys(state.listeners)) do
    listener()
  end
end

---@param kind claude-code.WriteKind
function M.add(buf, client, kind, timeout_ms)
  local now = now_ms()
  if state.ended[buf] then
    state.ended[buf][client.name] = nil
  end
  state.reports[buf] = state.reports[buf] or {}
  state.reports[buf][client.id] = {
    name = client.name,
    since = now,
    ready = now,
    timeout_ms = math.min(timeout_ms, servers.silence_ms(client.id, buf)),
    version = vim.lsp.util.buf_versions[buf] or 0,
    kind = kind,
    due = math.huge,
    overlaps = state.reports[buf][client.id] ~= nil and kind ~= "opened",
  }
  on_changed()
end

---@param id integer client
function M.remove(buf, id)
  if state.reports[buf] and state.reports[buf][id] then
    state.reports[buf][id] = nil
    if next(state.reports[buf]) == nil then
      state.reports[buf] = nil
    end
    on_changed()
  end
end

---Prolongs the wait for a server that starts or indexes, which may report more. Some servers never report the end of
---their work.
local function put_off(id, report, now)
  local is_awaited = report.due == math.huge or servers.is_worth_waiting(id)
  if servers.busy_with(id) and is_awaited and now - report.since < BUSY_LIMIT_MS then
    report.ready, report.due = now, math.max(report.due, now + BUSY_STEP_MS)
  end
end

local function is_over(buf, id, report, now)
  if not api.nvim_buf_is_valid(buf) then
    return true
  elseif not servers.is_running(id) then
    state.ended[buf] = state.ended[buf] or {}
    state.ended[buf][report.name] = true
    return true
  end
  put_off(id, report, now)
  local end_at = report.ready + report.timeout_ms
  if report.due <= now then
    servers.on_resolved(id)
  elseif end_at <= now and report.due == math.huge then
    servers.on_timeout(id, report.timeout_ms)
  end
  return math.min(report.due, end_at) <= now
end

---@return number ms time of the next check
local function next_look(id, report, now)
  local busy_at = servers.busy_with(id) and now + BUSY_STEP_MS or math.huge
  return math.min(report.due, report.ready + report.timeout_ms, busy_at)
end

---Removes reports that have come or timed out, and schedules the next review.
function M.review()
  local now, first = now_ms(), math.huge
  for buf, by_client in pairs(vim.deepcopy(state.reports)) do
    for id in pairs(by_client) do
      local report = state.reports[buf][id]
      if is_over(buf, id, report, now) then
        M.remove(buf, id)
      else
        first = math.min(first, next_look(id, report, now))
      end
    end
  end
  state.cancel_review()
  if first < math.huge then
    state.cancel_review = timer.once(first - now, M.review)
  end
end

---@param id integer client
---@param report? claude-code.Report nil: the server has checked the text, and its last report is still right
function M.on_report(buf, id, report)
  local expected = (state.reports[buf] or {})[id]
  if expected then
    local now = now_ms()
    expected.due = not report and now or servers.due(expected, report, now) or expected.due
    M.review()
  end
end

---@param id integer client
function M.is_expected(buf, id)
  return (state.reports[buf] or {})[id] ~= nil
end

---Is a report of this server, or of an ended server with the same name, missing?
function M.lacks(buf, client)
  return M.is_expected(buf, client.id) or (state.ended[buf] or {})[client.name] ~= nil
end

function M.is_pending(buf)
  return state.reports[buf] ~= nil
end

---Was a report pending when the buffer's text was replaced?
function M.was_pending(buf)
  return vim.iter(pairs(state.reports[buf] or {})):any(function(_, report)
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
  for id, report in pairs(state.reports[buf] or {}) do
    local busy = servers.busy_with(id)
    local is_due = report.timeout_ms >= servers.TIMEOUT_MS and servers.reports_always(id)
    if busy or is_due then
      missing[#missing + 1] = { id = id, name = report.name, state = busy or "late" }
    end
  end
  for name in pairs(state.ended[buf] or {}) do
    missing[#missing + 1] = { name = name, state = "ended" }
  end
  return missing
end

---@return string[] paths of files with a pending report, sorted
function M.paths()
  local paths = {}
  for buf in pairs(state.reports) do
    local path = api.nvim_buf_is_valid(buf)
      and require("claude-code.editor.documents.path").of_buffer(buf)
    paths[#paths + 1] = path or nil
  end
  table.sort(paths)
  return paths
end

---@return integer changes a new number once `is_pending` or `paths` may have changed
function M.changes()
  return state.changes
end

---@param callback fun() called when `is_pending` or `paths` may have changed
---@return fun() cancel
function M.on_change(callback)
  state.listeners[callback] = true
  return function()
    state.listeners[callback] = nil
  end
end

function M.clear()
  state.cancel_review()
  state.reports, state.ended = {}, {}
end

return M
