--- Follows the editor for the executable. Events only mark; the work is done when a Delta is made,
--- for a call of `take` or for a push.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local channel = require("claude-code.server.channel")
local deltas = require("claude-code.editor.sync.delta")
local pending = require("claude-code.editor.diagnostics.pending")
local sources = require("claude-code.editor.documents.sources")
local writes = require("claude-code.editor.diagnostics.writes")

---Times in ms. With thousands of diagnostics a Delta is dear: its making takes a tenth of the time at
---most.
local PUSH = { min_ms = 50, max_ms = 1000, share = 0.1 }

local OPTIONS = "{buflisted,buftype,filetype,modified}"
---What each does beside marking the buffer.
local SOURCES = {
  BufReadPre = sources.before_read,
  BufNewFile = sources.on_read,
  BufReadPost = sources.on_read,
  BufWipeout = sources.forget,
}
local READ = { BufReadPost = true, FileChangedShellPost = true }
---Beside those of writes.follow().
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

---While the editor is followed; `stops` end each thing that was started.
local follower ---@type { push_soon: fun(), stops: (fun())[] }?

local function push()
  if not follower or not channel.is_attached() then
    return
  end
  local delta = deltas.take()
  if next(delta) then
    channel.notify("state", delta)
  end
end

---Something changed: the executable receives it soon.
function M.touch()
  if follower then
    follower.push_soon()
  end
end

local function mark_buffer(buf)
  deltas.mark("buffers", buf)
  M.touch()
end

---@param event string
local function on_buffer_event(buf, event)
  if SOURCES[event] then
    SOURCES[event](buf)
  end
  mark_buffer(buf)
  if READ[event] and sources.others(buf, api.nvim_buf_get_name(buf)) then
    push() -- The executable knows of it before it receives anything of the text.
  end
end

---@return fun() stop
local function watch()
  local events = autocommands.new("state")
  events:on(BUFFER_EVENTS, function(buf, args)
    on_buffer_event(buf, args.event)
  end)
  events:on("OptionSet", function()
    -- The event does not name the buffer; it is mostly the current one.
    deltas.mark_all("listed")
    mark_buffer(api.nvim_get_current_buf())
  end, { pattern = OPTIONS })
  events:on({ "BufEnter", "TextChangedI" }, M.touch)
  events:on("DiagnosticChanged", function(buf)
    deltas.mark("diagnostics", buf)
    M.touch()
  end)
  return function()
    events:stop()
  end
end

---@return claude-code.Delta full
function M.start()
  M.stop()
  deltas.forget()
  channel.on_detach(M.stop)
  local push_soon, cancel_push = require("claude-code.lib.timer").throttle(PUSH, push)
  local cancel_folders = require("claude-code.lib.workspace").on_change(function()
    deltas.mark_all("folders")
    M.touch()
  end)
  local stop_writes = writes.follow(on_buffer_event)
  local stops = { stop_writes, pending.on_change(M.touch), watch(), cancel_push, cancel_folders }
  follower = { push_soon = push_soon, stops = stops }
  sources.start(api.nvim_list_bufs())
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if next(vim.diagnostic.count(buf)) then
      deltas.mark("diagnostics", buf)
    end
  end
  local delta = deltas.take()
  delta.full = true
  return delta
end

---What changed since the last Delta. Changes nothing in the editor.
---@return claude-code.Delta?
---@return claude-code.Failure?
function M.take()
  if not follower then
    return nil, "not attached"
  end
  return deltas.take()
end

function M.stop()
  for _, stop in ipairs(follower and follower.stops or {}) do
    stop()
  end
  follower = nil
end

return M
