--- Reports that are expected of language servers: one of each server for each file that was written or
--- reloaded. Until they are in, or time is over, diagnostics may be about the text before.
local api, uv = vim.api, vim.uv
local reports = require("claude-code.editor.diagnostics.reports")
local servers = require("claude-code.editor.diagnostics.servers")
local timer = require("claude-code.timer")

---For a save of a text that the server has reported on already: only a check on save changes that.
local SAVE_TIMEOUT_MS = 1000
---How often a server is looked at again that says it is busy.
local PROGRESS_STEP_MS = 100

---How servers learn of the new text: the buffer is new to them, was closed and opened again, or was
---only saved, and they know its text already.
---@alias claude-code.WriteKind "opened"|"reloaded"|"saved"

---@class claude-code.PendingReport one server's on one buffer
---@field since number ms, when the text was replaced
---@field timeout_ms integer
---@field version integer of the text
---@field kind claude-code.WriteKind
---@field due number ms, when what was reported counts, if nothing else comes; math.huge before that
---@field overlaps boolean a report on the text before was pending still

local M = {}

local group ---@type integer?
local cancel_review = function() end
local listeners = {} ---@type table<integer, fun()>
local next_listener = 1

local pending = {} ---@type table<integer, table<integer, claude-code.PendingReport>> by buffer, client
---When each buffer's text was replaced last, and its tick: servers that attach soon report on it too.
local replaced = {} ---@type table<integer, { at: number, tick: integer }>
---When any was, in ms. It may change what is wrong in others.
local last_replaced = 0
---The buffers' ticks at the last report, by buffer and client.
local reported = {} ---@type table<integer, table<integer, integer>>

local function now_ms()
  return uv.hrtime() / 1e6
end

local function emit_change()
  for _, listener in pairs(vim.deepcopy(listeners)) do
    listener()
  end
end

---@param buf integer
---@param id integer client
local function remove(buf, id)
  pending[buf][id] = nil
  if next(pending[buf]) == nil then
    pending[buf] = nil
  end
end

---@param buf integer
---@param id integer client
---@param report claude-code.PendingReport
---@param now number ms
---@return boolean is it expected no longer?
local function is_over(buf, id, report, now)
  local deadline = report.since + report.timeout_ms
  if not servers.is_running(id) or not api.nvim_buf_is_valid(buf) then
    return true
  elseif report.due <= now and now < deadline and servers.is_busy(id) then
    report.due = now + PROGRESS_STEP_MS
  end
  if report.due <= now then
    servers.on_resolved(id)
  elseif deadline <= now and report.due == math.huge and report.timeout_ms > SAVE_TIMEOUT_MS then
    servers.on_timeout(id)
  end
  return math.min(report.due, deadline) <= now
end

---Removes what is over, and comes back for the next that will be.
local function review()
  local now, first, removed = now_ms(), math.huge, false
  for buf, by_client in pairs(vim.deepcopy(pending)) do
    for id in pairs(by_client) do
      local report = pending[buf][id]
      if is_over(buf, id, report, now) then
        remove(buf, id)
        removed = true
      else
        first = math.min(first, report.due, report.since + report.timeout_ms)
      end
    end
  end
  cancel_review()
  if first < math.huge then
    cancel_review = timer.once(first - now, review)
  end
  if removed then
    emit_change()
  end
end

---@param buf integer
---@param client vim.lsp.Client
---@param timeout_ms integer
---@param kind claude-code.WriteKind
local function add(buf, client, timeout_ms, kind)
  pending[buf] = pending[buf] or {}
  pending[buf][client.id] = {
    since = now_ms(),
    timeout_ms = timeout_ms,
    version = vim.lsp.util.buf_versions[buf] or 0,
    kind = kind,
    due = math.huge,
    overlaps = pending[buf][client.id] ~= nil and kind ~= "opened",
  }
  if kind ~= "saved" and client.initialized then
    require("claude-code.editor.diagnostics.requests").pull_if_hidden(buf, client)
  end
end

---A buffer's file has new contents on disk: a report is expected of each of its servers.
---@param buf integer
---@param kind claude-code.WriteKind
function M.expect(buf, kind)
  if not group then
    return
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  last_replaced = now_ms()
  replaced[buf] = { at = last_replaced, tick = tick }
  if not package.loaded["vim.lsp"] then
    return
  end
  reports.wrap_handlers()
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })) do
    if servers.gives_diagnostics(client) then
      local is_known = kind == "saved" and reported[buf] and reported[buf][client.id] == tick
      add(buf, client, is_known and SAVE_TIMEOUT_MS or servers.TIMEOUT_MS, kind)
    end
  end
  review()
  emit_change()
end

---@param buf integer
---@param id integer client
local function on_attach(buf, id)
  local client, text = vim.lsp.get_client_by_id(id), replaced[buf]
  reports.wrap_handlers()
  local is_new = text ~= nil and now_ms() - text.at < servers.TIMEOUT_MS
  if client and is_new and servers.gives_diagnostics(client) then
    add(buf, client, servers.TIMEOUT_MS, "opened")
    review()
    emit_change()
  end
end

---@param buf integer
---@param id integer client
local function on_detach(buf, id)
  if pending[buf] and pending[buf][id] then
    remove(buf, id)
    emit_change()
  end
end

---@param report claude-code.Report
local function on_report(report)
  local id, buf, now = report.client, report.buf, now_ms()
  local tick, text = api.nvim_buf_get_changedtick(buf), replaced[buf]
  local took = text and text.tick == tick and now - last_replaced or nil
  reported[buf] = reported[buf] or {}
  reported[buf][id] = tick
  local expected = pending[buf] and pending[buf][id]
  servers.learn(report, took)
  if expected then
    expected.due = servers.due(expected, report, now) or expected.due
    review()
  end
end

---Is a report on this buffer's text still expected?
---@param buf integer
---@return boolean
function M.is_pending(buf)
  return pending[buf] ~= nil
end

---Was one still expected when the buffer's text was replaced last?
---@param buf integer
---@return boolean
function M.was_pending(buf)
  return vim.iter(pairs(pending[buf] or {})):any(function(_, report)
    return report.overlaps
  end)
end

---Paths of the files on which a report is expected, sorted.
---@return string[]
function M.paths()
  local paths = {}
  for buf in pairs(pending) do
    local path = api.nvim_buf_is_valid(buf)
      and require("claude-code.editor.documents.path").of_buffer(buf)
    if path then
      paths[#paths + 1] = path
    end
  end
  table.sort(paths)
  return paths
end

---A reload closes the text for language servers, and opens it with the version it had (measured with
---Neovim 0.12; 0.10 always says 0): a late report on the text before would look like one on the new
---text. Neovim counts versions by the buffer's ticks, of which a reload takes one.
---@param buf integer about to be read; servers have it only if it was read before
local function renumber(buf)
  if package.loaded["vim.lsp"] and next(vim.lsp.get_clients({ bufnr = buf })) then
    vim.lsp.util.buf_versions[buf] = api.nvim_buf_get_changedtick(buf) + 1
  end
end

local function watch()
  group = api.nvim_create_augroup("claude-code.pending", { clear = true })
  local function on(event, callback)
    api.nvim_create_autocmd(event, {
      group = group,
      callback = function(args)
        callback(args.buf, (args.data or {}).client_id)
      end,
    })
  end
  on("BufReadPre", renumber)
  on("BufWritePost", function(buf)
    M.expect(buf, "saved")
  end)
  on("FileChangedShellPost", function(buf)
    M.expect(buf, "reloaded")
  end)
  on("LspAttach", on_attach)
  on("LspDetach", on_detach)
  on("BufWipeout", function(buf)
    pending[buf], replaced[buf], reported[buf] = nil, nil, nil
    emit_change()
  end)
end

local function start()
  servers.start()
  reports.start(on_report)
  watch()
end

local function stop()
  api.nvim_del_augroup_by_id(group)
  group = nil
  cancel_review()
  reports.stop()
  servers.stop()
  pending, replaced, reported = {}, {}, {}
end

---Begins to watch, if no other listener does.
---@param on_change fun() called when `is_pending` and `paths` may answer something else
---@return fun() cancel
function M.follow(on_change)
  if not group then
    start()
  end
  local id = next_listener
  next_listener = id + 1
  listeners[id] = on_change
  return function()
    listeners[id] = nil
    if group and next(listeners) == nil then
      stop()
    end
  end
end

return M
