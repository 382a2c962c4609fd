--- Notices what happens to a diff on screen: its windows, its file, its edits, its keys.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local channel = require("claude-code.server.channel")
local keys = require("claude-code.editor.diff.keys")
local original = require("claude-code.editor.diff.original")
local timer = require("claude-code.lib.timer")
local typed = require("claude-code.editor.diff.typed")
local winbar = require("claude-code.editor.windows.winbar")

---How often all is looked at, in ms: most of what happens to a diff has no event of its own (the executable died,
---somebody closed a window with autocommands off, a program wrote the file), and what has one is rarely urgent.
local WATCHDOG_MS = 500

---How soon edits are followed, in ms. In a big file an update is dear: it takes a fifth of the time at most.
local UPDATE = { min_ms = 10, max_ms = 1000, share = 0.2 }

---@class claude-code.Watch
---@field view claude-code.View
---@field private proposal claude-code.Proposal
---@field private typed claude-code.Typed
---@field private stops table<string, fun()> what ends each thing that was started
local Watch = {}
Watch.__index = Watch

local M = {}

---@param view claude-code.View
---@return claude-code.Watch
function M.start(view)
  local watch = setmetatable({ view = view, proposal = view.proposal, stops = {} }, Watch)
  local events = watch:start_events()
  local columns, rows = vim.o.columns, vim.o.lines
  watch.stops.watchdog = timer.every(WATCHDOG_MS, function()
    watch:check_windows()
    watch:check_file()
    if columns ~= vim.o.columns or rows ~= vim.o.lines then
      columns, rows = vim.o.columns, vim.o.lines
      view.layout:even_out()
    end
    view:show_bars()
  end)
  watch.typed = typed.watch(watch, events)
  function watch.stops.typed()
    watch.typed:stop()
  end
  watch:follow_edits()
  watch:map_keys()
  watch.stops.original = original.map(view.proposal)
  return watch
end

---Ends what goes by this name, and puts something else in its place.
---@param name string
---@param start? fun(): fun() returns what ends it
function Watch:replace(name, start)
  local stop = self.stops[name]
  self.stops[name] = nil
  if stop then
    stop()
  end
  self.stops[name] = start and start()
end

---Ends all: what happens to the windows from now on decides nothing.
function Watch:stop()
  for name in pairs(self.stops) do
    self:replace(name)
  end
end

---@private
function Watch:map_keys()
  self:replace("keys", function()
    return keys.map(self.view.diff)
  end)
end

---Counts and colours stay true while the proposal is edited. Again, once `:edit!` has brought back its text.
function Watch:follow_edits()
  self:replace("edits", function()
    local is_stopped = false
    local update_soon, cancel = timer.throttle(UPDATE, function()
      self.view:refresh()
    end)
    local function changed()
      if is_stopped then
        return true
      end
      update_soon()
    end
    api.nvim_buf_attach(self.proposal.new_buf, false, { on_lines = changed, on_reload = changed })
    update_soon()
    return function()
      is_stopped = true
      cancel()
    end
  end)
end

---Has the user left the diff?
function Watch:check_windows()
  if not next(self.stops) or self.typed.is_closing then
    return
  end
  -- In this order: without the executable the diff closes by itself.
  if channel.is_attached() and not self.view.layout:is_intact() then
    self.view.diff:put_aside()
  end
end

---The diff follows what happens to the file.
---@private
function Watch:check_file()
  if not self.view:is_open() then
    return
  end
  local written, edited = self.proposal:follow_disk(), self.proposal:find_unsaved()
  if written then
    self:map_keys()
    if api.nvim_get_mode().mode == "n" then
      -- Who is about to accept has not seen what they would overwrite.
      self.view.guard:restart("was updated")
    end
  end
  if written or edited then
    self.view:refresh()
    self.proposal.destination:report(edited and self.proposal.unsaved, written)
  end
end

---@private
---@return claude-code.Autocommands
function Watch:start_events()
  local events, view = autocommands.new("diff"), self.view
  events:on("BufWinLeave", function()
    -- As Neovim ends, this comes before any VimLeavePre, where plugins save the windows as a session.
    if vim.v.exiting ~= vim.NIL then
      view:close_on_exit()
    end
    vim.schedule(function()
      self:check_windows()
    end)
  end)
  winbar.follow(events.id, function()
    view:show_bars()
  end)
  function self.stops.events()
    events:stop()
  end
  return events
end

return M
