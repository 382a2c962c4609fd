--- Which files were written or reloaded and still wait for their language servers' report on the
--- new text. A report counts when the server says that it is about that text. Servers that don't
--- say so are watched: their first report after a reload is often the empty one for the closed text
--- (typescript-language-server), and syntax errors may come before the others.
local api, uv = vim.api, vim.uv
local reports = require("claude-code.editor.diagnostics.reports")
local servers = require("claude-code.editor.diagnostics.servers")

---How long a server is waited for after a save of a text that it had already reported on: only a
---check on save would change that.
local SAVE_PATIENCE_MS = 1000
---Looked at again while a server says that it is at work.
local PROGRESS_STEP_MS = 100

local M = {}

---How servers learn of the new text: the buffer is new to them, was closed and opened again, or was
---only saved, and they know its text already.
---@alias claude-code.WriteKind "opened"|"reloaded"|"saved"

---@class claude-code.Debt one server's report on one buffer
---@field since number ms, when the text was replaced
---@field patience integer ms
---@field version integer of the text
---@field due number ms, when it counts as paid; math.huge before any report
---@field how claude-code.WriteKind
---@field muddled boolean a report on an older text was owed when this one became so
---@field before string the list as it was then
---@field cleared boolean an empty list came since

local group ---@type integer?
local timer ---@type uv.uv_timer_t?
local listeners = {} ---@type table<integer, fun()>
local next_listener = 1

local owed = {} ---@type table<integer, table<integer, claude-code.Debt>> by buffer and client
---Buffers whose text is new, since when, and its tick: a server that attaches soon owes a report too.
local fresh = {} ---@type table<integer, { at: number, tick: integer }>
---The buffers' ticks at the last report, by buffer and client.
local seen = {} ---@type table<integer, table<integer, integer>>

local function now_ms()
  return uv.hrtime() / 1e6
end

local function changed()
  for _, listener in pairs(vim.deepcopy(listeners)) do
    listener()
  end
end

---@param buf integer
---@param id integer
local function pay(buf, id)
  owed[buf][id] = nil
  if next(owed[buf]) == nil then
    owed[buf] = nil
  end
end

---Is the debt to be dropped: paid, overdue, or owed by nobody any more?
---@param buf integer
---@param id integer
---@param debt claude-code.Debt
---@param now number
---@return boolean
local function is_over(buf, id, debt, now)
  local last = debt.since + debt.patience
  if debt.due <= now and now < last and servers.is_at_work(id) then
    debt.due = now + PROGRESS_STEP_MS
  end
  if last <= now and debt.due == math.huge and debt.patience == servers.PATIENCE_MS then
    servers.gave_nothing(id)
  end
  return math.min(debt.due, last) <= now
    or not servers.is_alive(id)
    or not api.nvim_buf_is_valid(buf)
end

---Drops what is over, and sets the timer for the next such time.
local function review()
  if not timer then
    return
  end
  local now, first, dropped = now_ms(), math.huge, false
  for buf, debts in pairs(vim.deepcopy(owed)) do
    for id in pairs(debts) do
      local debt = owed[buf][id]
      if is_over(buf, id, debt, now) then
        if debt.due <= now then
          servers.paid(id)
        end
        pay(buf, id)
        dropped = true
      else
        first = math.min(first, debt.due, debt.since + debt.patience)
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
---@param client vim.lsp.Client
---@param patience integer ms
---@param how claude-code.WriteKind
local function owe(buf, client, patience, how)
  local id = client.id
  local earlier = owed[buf] and owed[buf][id]
  owed[buf] = owed[buf] or {}
  owed[buf][id] = {
    since = now_ms(),
    patience = patience,
    version = vim.lsp.util.buf_versions[buf] or 0,
    due = math.huge,
    how = how,
    muddled = earlier ~= nil and how ~= "opened",
    before = servers.signature(buf, id),
    cleared = false,
  }
  if how == "opened" and client.initialized then
    servers.pull_if_hidden(buf, client)
  end
end

---A buffer's file has new contents on disk: its servers are expected to speak.
---@param buf integer
---@param how claude-code.WriteKind
function M.written(buf, how)
  if not group then
    return
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  fresh[buf] = { at = now_ms(), tick = tick }
  if not package.loaded["vim.lsp"] then
    return
  end
  reports.hook()
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, _uninitialized = true })) do
    if servers.gives_diagnostics(client) then
      local is_known = how == "saved" and seen[buf] and seen[buf][client.id] == tick
      owe(buf, client, is_known and SAVE_PATIENCE_MS or servers.PATIENCE_MS, how)
    end
  end
  review()
  changed()
end

---@param buf integer
---@param id integer client
local function attached(buf, id)
  local client, text = vim.lsp.get_client_by_id(id), fresh[buf]
  reports.hook()
  local is_new = text ~= nil and now_ms() - text.at < servers.PATIENCE_MS
  if client and is_new and servers.gives_diagnostics(client) then
    owe(buf, client, servers.PATIENCE_MS, "opened")
    review()
    changed()
  end
end

---@param report claude-code.Report
local function reported(report)
  local id, buf = report.client, report.buf
  local tick, text = api.nvim_buf_get_changedtick(buf), fresh[buf]
  local debt = owed[buf] and owed[buf][id]
  servers.learn(report, text and text.tick == tick and now_ms() - text.at or nil, debt)
  seen[buf] = seen[buf] or {}
  seen[buf][id] = tick
  if debt then
    debt.due = servers.due(debt, report, now_ms()) or debt.due
    debt.cleared = debt.cleared or report.empty
    review()
  end
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
    local path = api.nvim_buf_is_valid(buf)
      and require("claude-code.editor.documents.path").of_buffer(buf)
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

local function watch()
  group = api.nvim_create_augroup("claude-code.settle", { clear = true })
  local function on(event, callback)
    api.nvim_create_autocmd(event, { group = group, callback = callback })
  end
  on("BufReadPost", function(args)
    renumber(args.buf)
  end)
  on("BufWritePost", function(args)
    M.written(args.buf, "saved")
  end)
  on("FileChangedShellPost", function(args)
    M.written(args.buf, "reloaded")
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
    owed[args.buf], fresh[args.buf], seen[args.buf] = nil, nil, nil
  end)
end

local function start()
  timer = assert(uv.new_timer())
  servers.start()
  reports.start(reported)
  watch()
end

local function stop()
  api.nvim_del_augroup_by_id(group)
  timer:stop()
  timer:close()
  group, timer = nil, nil
  reports.stop()
  servers.stop()
  owed, fresh, seen = {}, {}, {}
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
