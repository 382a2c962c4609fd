--- Which files were written or reloaded and still wait for their language servers' report on the
--- new text. A report counts when the server says that it is about that text. Servers that don't
--- say so are watched: their first report after a reload is often the empty one for the closed text
--- (typescript-language-server), and syntax errors may come before the others.
local api, uv = vim.api, vim.uv
local reports = require("claude-code.editor.settle.reports")

---How long a server is waited for at most, in ms. One that never reported at all is then known to
---be silent.
local PATIENCE_MS = 10000
---… and for a text that it had already reported on, which only a check on save changes.
local SAVE_PATIENCE_MS = 1000
---Stillness after a report on the right version: some servers report twice.
local QUIET_MS = 150
---… after a report that may be about an older text, or only the first half. In the second case the
---list is empty: typescript-language-server waits up to 0.8 s before it looks at a reopened file.
local UNSURE_QUIET_MS, EMPTY_QUIET_MS = 400, 1000
---Looked at again while a server says that it is at work ($/progress).
local PROGRESS_STEP_MS = 100

local M = {}

---@class claude-code.Debt one server's report on one buffer
---@field since number ms, when the text was replaced
---@field patience integer ms
---@field version integer of the text
---@field due number ms, when it counts as paid; math.huge before any report
---@field reloaded boolean the text was closed and opened again, not only saved
---@field muddled boolean a report on an older text was owed when this one became so

local group ---@type integer?
local timer ---@type uv.uv_timer_t?
local listeners = {} ---@type table<integer, fun()>
local next_listener = 1

local owed = {} ---@type table<integer, table<integer, claude-code.Debt>> by buffer and client
---Buffers whose text is new, and since when: a server that attaches soon owes a report too.
local fresh = {} ---@type table<integer, number>
---The buffers' ticks at the last report, by buffer and client.
local seen = {} ---@type table<integer, table<integer, integer>>
local versioned = {} ---@type table<integer, true> clients that tell versions
local silent = {} ---@type table<integer, true> clients that never report
local reporting = {} ---@type table<integer, true>
---How long after a write the client's last report came, in ms, lately.
local lag = {} ---@type table<integer, number>

local function now_ms()
  return uv.hrtime() / 1e6
end

local function changed()
  for _, listener in pairs(vim.deepcopy(listeners)) do
    listener()
  end
end

---@param buf integer
---@return integer
local function version_of(buf)
  return vim.lsp.util.buf_versions[buf] or 0
end

---@param id integer
---@return boolean
local function is_alive(id)
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and not client:is_stopped()
end

---@param id integer
---@return boolean is it in the middle of something, by its own word?
local function is_at_work(id)
  local client = vim.lsp.get_client_by_id(id)
  return client ~= nil and client.progress ~= nil and next(client.progress.pending or {}) ~= nil
end

---@param client vim.lsp.Client
---@return boolean
local function gives_diagnostics(client)
  local capabilities = client.server_capabilities
  if silent[client.id] or not client.initialized or not capabilities then
    return not silent[client.id]
  end
  -- A server that pushes does not say so beforehand, but it must follow the text.
  return capabilities.diagnosticProvider ~= nil
    or reporting[client.id] ~= nil
    or capabilities.textDocumentSync ~= nil
end

---@param buf integer
---@param id integer
local function pay(buf, id)
  owed[buf][id] = nil
  if next(owed[buf]) == nil then
    owed[buf] = nil
  end
end

---@param id integer
---@param debt claude-code.Debt
local function give_up(id, debt)
  if debt.due == math.huge and debt.patience == PATIENCE_MS and not reporting[id] then
    silent[id] = true
  end
end

---Drops what is paid, overdue or owed by nobody any more, and sets the timer for the next such time.
local function review()
  if not timer then
    return
  end
  local now, first, dropped = now_ms(), math.huge, false
  for buf, debts in pairs(vim.deepcopy(owed)) do
    for id in pairs(debts) do
      local debt = owed[buf][id]
      local last = debt.since + debt.patience
      if debt.due <= now and now < last and is_at_work(id) then
        debt.due = now + PROGRESS_STEP_MS
      end
      if not is_alive(id) or not api.nvim_buf_is_valid(buf) or math.min(debt.due, last) <= now then
        give_up(id, debt)
        pay(buf, id)
        dropped = true
      else
        first = math.min(first, debt.due, last)
      end
    end
  end
  timer:stop()
  if first < math.huge then
    timer:start(math.max(1, math.ceil(first - now)), 0, vim.schedule_wrap(review))
  end
  if dropped then
    changed()
  end
end

---@param buf integer
---@param id integer client
---@param patience integer ms
---@param reloaded boolean
local function owe(buf, id, patience, reloaded)
  local before = owed[buf] and owed[buf][id]
  owed[buf] = owed[buf] or {}
  owed[buf][id] = {
    since = now_ms(),
    patience = patience,
    version = version_of(buf),
    due = math.huge,
    reloaded = reloaded,
    muddled = before ~= nil,
  }
end

---A buffer's file has new contents on disk: its servers are expected to speak.
---@param buf integer
---@param saved? boolean the buffer itself was written, so that servers know the text already
function M.written(buf, saved)
  if not group then
    return
  end
  fresh[buf] = now_ms()
  if not package.loaded["vim.lsp"] then
    return
  end
  reports.hook()
  local tick = api.nvim_buf_get_changedtick(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })) do
    if gives_diagnostics(client) then
      local known = saved and seen[buf] and seen[buf][client.id] == tick
      owe(buf, client.id, known and SAVE_PATIENCE_MS or PATIENCE_MS, not saved)
    end
  end
  review()
  changed()
end

---@param buf integer
---@param id integer client
local function attached(buf, id)
  local client = vim.lsp.get_client_by_id(id)
  reports.hook()
  if
    client
    and fresh[buf]
    and now_ms() - fresh[buf] < PATIENCE_MS
    and gives_diagnostics(client)
  then
    owe(buf, id, PATIENCE_MS, true)
    owed[buf][id].muddled = false
    review()
    changed()
  end
end

---@param debt claude-code.Debt
---@param report claude-code.Report
---@return integer? ms of stillness after which it is paid; nil: not by this report
local function quiet_after(debt, report)
  if report.version then
    return report.version >= debt.version and QUIET_MS or nil
  elseif versioned[report.client] then
    return nil -- the closed text's
  elseif not debt.reloaded then
    return QUIET_MS
  elseif report.empty or debt.muddled then
    return EMPTY_QUIET_MS
  end
  return UNSURE_QUIET_MS
end

---@param debt claude-code.Debt
---@param id integer client
local function learn(debt, id)
  if reporting[id] and not versioned[id] then
    local took = math.min(now_ms() - debt.since, PATIENCE_MS)
    lag[id] = math.max(took, (lag[id] or 0) * 0.7)
  end
end

---@param report claude-code.Report
local function reported(report)
  local id, buf = report.client, report.buf
  if report.version then
    versioned[id] = true
  end
  seen[buf] = seen[buf] or {}
  seen[buf][id] = api.nvim_buf_get_changedtick(buf)
  local debt = owed[buf] and owed[buf][id]
  local quiet = debt and quiet_after(debt, report)
  if debt and quiet then
    learn(debt, id)
    debt.due = now_ms() + quiet
    if quiet == EMPTY_QUIET_MS then
      debt.due = math.max(debt.due, debt.since + (lag[id] or 0) * 1.25)
    end
    review()
  end
  reporting[id], silent[id] = true, nil
end

---Does any server still owe a report on this buffer's text?
---@param buf integer
---@return boolean
function M.owes(buf)
  return owed[buf] ~= nil
end

---Did any server still owe a report on this buffer when its text was replaced last?
---@param buf integer
---@return boolean
function M.was_owed(buf)
  return vim.iter(pairs(owed[buf] or {})):any(function(_, debt)
    return debt.muddled
  end)
end

---Paths of the files that wait, sorted.
---@return string[]
function M.owing()
  local paths = {}
  for buf in pairs(owed) do
    local path = api.nvim_buf_is_valid(buf) and require("claude-code.editor.path").of_buffer(buf)
    if path then
      paths[#paths + 1] = path
    end
  end
  table.sort(paths)
  return paths
end

---A reload closes and opens the text for language servers, each time with the version it had
---(measured with Neovim 0.10 and 0.12): a late report on the text before could not be told from one
---on the new text. Tick numbers only grow, and are what Neovim itself counts versions with.
---@param buf integer
local function renumber(buf)
  if package.loaded["vim.lsp"] and next(vim.lsp.get_clients({ bufnr = buf })) then
    vim.lsp.util.buf_versions[buf] = api.nvim_buf_get_changedtick(buf)
  end
end

---@param buf integer
local function forget(buf)
  owed[buf], fresh[buf], seen[buf] = nil, nil, nil
end

local function start()
  group = api.nvim_create_augroup("claude-code.settle", { clear = true })
  timer = assert(uv.new_timer())
  reporting = package.loaded["vim.lsp"] and reports.reporters() or {}
  reports.start(reported)
  local function on(events, callback)
    api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on("BufReadPost", function(args)
    renumber(args.buf)
  end)
  on("BufWritePost", function(args)
    M.written(args.buf, true)
  end)
  on("FileChangedShellPost", function(args)
    M.written(args.buf)
  end)
  on("LspAttach", function(args)
    attached(args.buf, args.data.client_id)
  end)
  on("LspDetach", function(args)
    if owed[args.buf] and owed[args.buf][args.data.client_id] then
      pay(args.buf, args.data.client_id)
      changed()
    end
  end)
  on("BufWipeout", function(args)
    forget(args.buf)
  end)
end

local function stop()
  api.nvim_del_augroup_by_id(group)
  timer:stop()
  timer:close()
  group, timer = nil, nil
  reports.stop()
  owed, fresh, seen = {}, {}, {}
  versioned, silent, reporting, lag = {}, {}, {}, {}
end

---Begins to watch, if nobody else does already.
---@param on_change fun() called when `owing` and `owes` may answer something else
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
