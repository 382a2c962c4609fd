--- Keeps the executable informed about the editor. Events only mark what has changed; `take` or a push then makes a
--- Delta.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local channel = require("claude-code.server.channel")
local path = require("claude-code.editor.documents.path")
local pending = require("claude-code.editor.diagnostics.pending")
local privacy = require("claude-code.editor.privacy")
local sources = require("claude-code.editor.documents.sources")
local writes = require("claude-code.editor.diagnostics.writes")

---Thousands of diagnostics make a Delta expensive: spend at most a tenth of the time on it.
local PUSH = { min_ms = 50, max_ms = 1000, share = 0.1 }

local OPTIONS = "{buflisted,buftype,filetype,modified}"
---Events that may change the source of a buffer's text.
local SOURCES = {
  BufReadPre = sources.before_read,
  BufNewFile = sources.on_read,
  BufReadPost = sources.on_read,
  BufFilePost = sources.on_named,
  BufWipeout = sources.forget,
}
local READ = { BufReadPost = true, FileChangedShellPost = true }
---Events besides those of writes.follow().
local BUFFER_EVENTS = {
  "BufAdd",
  "BufDelete",
  "BufFilePost",
  "BufModifiedSet",
  "BufNewFile",
  "BufReadPost",
  "BufUnload",
  "FileType",
  "TermOpen",
  "TextChanged",
}

local M = {}

local follower ---@type { push_soon: fun(), stops: (fun())[] }? nil: the editor is not followed
---State that the executable knows; `reported` has the paths of buffers with diagnostics.
local known ---@type table<integer, table>
local reported ---@type table<integer, string>
local last ---@type { current?: integer, pending: string }
---Buffers that the executable must not know.
local private ---@type table<integer, true>
---Parts of the state that may have changed.
local dirty ---@type { buffers: table<integer, true>, diagnostics: table<integer, true>, folders: boolean }

local function describe(buf)
  local function option(name)
    return api.nvim_get_option_value(name, { buf = buf })
  end
  local loaded = api.nvim_buf_is_loaded(buf)
  local name = api.nvim_buf_get_name(buf)
  return {
    buf = buf,
    name = name,
    path = path.of_buffer(buf),
    sources = sources.others(buf, name),
    filetype = option("filetype"),
    listed = option("buflisted"),
    loaded = loaded,
    modified = option("modified"),
    lines = loaded and api.nvim_buf_line_count(buf) or 0,
  }
end

---Has one of the properties that often change changed in a buffer? Also finds changes without an event, such as a
---plugin's edit of a hidden buffer.
local function has_changed(buf)
  local before = known[buf]
  if not before then
    return not private[buf]
  end
  local loaded = api.nvim_buf_is_loaded(buf)
  return loaded ~= before.loaded
    or api.nvim_get_option_value("modified", { buf = buf }) ~= before.modified
    or (loaded and api.nvim_buf_line_count(buf) ~= before.lines)
    or (vim.fn.buflisted(buf) == 1) ~= before.listed
end

---Is the buffer private? Checks again only after an event, since the check resolves symlinks.
local function hides(buf)
  local before = known[buf]
  local is_other = not before or before.loaded ~= api.nvim_buf_is_loaded(buf)
  if dirty.buffers[buf] or (is_other and not private[buf]) then
    private[buf] = privacy.hides(buf) or nil
  end
  return private[buf] ~= nil
end

---@return { buf: integer, path: string, items: table }[] cleared files that no longer have diagnostics
local function add_buffers(delta)
  local changed, removed, cleared = {}, {}, {}
  local function clear(buf)
    if reported[buf] then
      cleared[#cleared + 1] = { buf = buf, path = reported[buf], items = {} }
      reported[buf], dirty.diagnostics[buf] = nil, true
    end
  end
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local before = known[buf]
    if not hides(buf) and (dirty.buffers[buf] or has_changed(buf)) then
      local now = describe(buf)
      if not vim.deep_equal(before, now) then
        known[buf] = now
        changed[#changed + 1] = now
        if before and before.path ~= now.path then
          clear(buf)
        end
      end
    end
  end
  for _, buf in ipairs(vim.tbl_keys(known)) do
    if private[buf] or not api.nvim_buf_is_valid(buf) then
      known[buf] = nil
      removed[#removed + 1] = buf
      clear(buf)
    end
  end
  dirty.buffers = {}
  delta.buffers = #changed > 0 and changed or nil
  delta.removed = #removed > 0 and removed or nil
  return cleared
end

---@param list { buf: integer, path: string, items: table }[] gets more items
local function add_diagnostics(delta, list)
  for buf in pairs(dirty.diagnostics) do
    local buffer = known[buf]
    if buffer and buffer.path then
      local items = require("claude-code.editor.diagnostics").items(buf)
      if #items > 0 or reported[buf] then
        list[#list + 1] = { buf = buf, path = buffer.path, items = items }
        reported[buf] = #items > 0 and buffer.path or nil
      end
    end
  end
  dirty.diagnostics = {}
  delta.diagnostics = #list > 0 and list or nil
end

local function add_rest(delta)
  if dirty.folders then
    dirty.folders = false
    delta.folders = require("claude-code.lib.workspace").folders()
  end
  local current = api.nvim_get_current_buf()
  if current ~= last.current then
    last.current, delta.current = current, current
  end
  local paths = vim.tbl_filter(function(name)
    return not privacy.is_private(name)
  end, pending.paths())
  local key = table.concat(paths, "\0")
  if key ~= last.pending then
    last.pending, delta.pending = key, paths
  end
end

---@return table? delta changes since the previous Delta, claude-code.Failure?
function M.take()
  if not follower then
    return nil, "not attached"
  end
  local delta = vim.empty_dict() ---@type table `Delta` of src/editor/model.ts
  add_diagnostics(delta, add_buffers(delta))
  add_rest(delta)
  return delta
end

---Describes all buffers, without an effect on the next Delta.
function M.snapshot()
  local buffers = {}
  for _, buf in ipairs(api.nvim_list_bufs()) do
    buffers[#buffers + 1] = not privacy.hides(buf) and describe(buf) or nil
  end
  return { buffers = buffers, current = api.nvim_get_current_buf() }
end

local function push()
  local delta = channel.is_attached() and M.take()
  if delta and next(delta) then
    channel.notify("state", delta)
  end
end

---Sends changes to the executable soon.
function M.touch()
  if follower then
    follower.push_soon()
  end
end

local function mark_buffer(buf)
  dirty.buffers[buf] = true
  M.touch()
end

local function on_buffer_event(buf, event)
  if SOURCES[event] then
    SOURCES[event](buf)
  end
  mark_buffer(buf)
  if READ[event] and sources.others(buf, api.nvim_buf_get_name(buf)) then
    push() -- The executable must know the sources before it receives any of the text.
  end
end

---@return fun() stop
local function watch()
  local events = autocommands.new("state")
  events:on(BUFFER_EVENTS, function(buf, args)
    on_buffer_event(buf, args.event)
  end)
  events:on("OptionSet", function()
    -- The event does not give the buffer, which is usually the current one.
    mark_buffer(api.nvim_get_current_buf())
  end, { pattern = OPTIONS })
  events:on({ "BufEnter", "TextChangedI" }, M.touch)
  events:on("DiagnosticChanged", function(buf)
    dirty.diagnostics[buf] = true
    M.touch()
  end)
  return function()
    events:stop()
    sources.stop()
  end
end

local function mark_all()
  vim.iter(api.nvim_list_bufs()):each(mark_buffer)
end

---@return table delta full
function M.start()
  M.stop()
  require("claude-code.config").on_change("privacy", mark_all)
  known, private, reported, last = {}, {}, {}, { pending = "" }
  dirty = { buffers = {}, diagnostics = {}, folders = true }
  channel.on_detach(M.stop)
  local push_soon, cancel_push = require("claude-code.lib.timer").throttle(PUSH, push)
  local cancel_folders = require("claude-code.lib.workspace").on_change(function()
    dirty.folders = true
    M.touch()
  end)
  local stop_writes = writes.follow(on_buffer_event)
  local stops = { stop_writes, pending.on_change(M.touch), watch(), cancel_push, cancel_folders }
  follower = { push_soon = push_soon, stops = stops }
  sources.start(api.nvim_list_bufs())
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if next(vim.diagnostic.count(buf)) then
      dirty.diagnostics[buf] = true
    end
  end
  local delta = assert(M.take())
  delta.full = true
  return delta
end

function M.stop()
  for _, stop in ipairs(follower and follower.stops or {}) do
    stop()
  end
  follower = nil
end

return M
