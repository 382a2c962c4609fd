--- One diff on screen: opens its windows, notices how the user leaves them, and closes all that it
--- opened.
local api = vim.api
local bars = require("claude-code.editor.diff.bars")
local blocked = require("claude-code.editor.windows.blocked")
local channel = require("claude-code.editor.channel")
local focus = require("claude-code.editor.windows.focus")
local hunk_cursor = require("claude-code.editor.diff.hunks.cursor")
local input_guard = require("claude-code.editor.diff.input_guard")
local keyboard = require("claude-code.editor.input.keyboard")
local keys = require("claude-code.editor.diff.keys")
local layouts = require("claude-code.editor.diff.layout")
local notify = require("claude-code.messages.notify")
local refresh = require("claude-code.editor.diff.refresh")
local saved_layout = require("claude-code.editor.windows.layout")
local timing = require("claude-code.editor.diff.timing")
local windows = require("claude-code.editor.windows")
local watch = require("claude-code.editor.diff.watch")
local write = require("claude-code.editor.diff.write")

---@class claude-code.ViewCallbacks
---@field actions table<claude-code.DiffAction, fun()> what the keys do
---@field write fun(): boolean accept, called in the middle of a write; false: not accepted
---@field left fun() the user closed a window of the diff, or shows something else in it
---@field position fun(): integer, integer the diff's number, and of how many

---@class claude-code.View
---@field cursor claude-code.HunkCursor
---@field guard claude-code.InputGuard
---@field private proposal claude-code.Proposal
---@field private on claude-code.ViewCallbacks
---@field private layout claude-code.Layout
---@field private saved claude-code.SavedLayout the windows before
---@field private origin claude-code.Origin where the user was
---@field private bars claude-code.Bars
---@field private watching table<string, fun()> what ends each thing that watches the diff; emptied by
--- `stop`
---@field private stopped boolean what happens to the windows from now on decides nothing
local View = {}
View.__index = View

local M = {}

---Windows and buffers came or went with autocommands off: the mirror of the editor's state looks.
local function touch()
  local state = package.loaded["claude-code.editor.sync"]
  if state then
    state.touch()
  end
end

---Shows a diff; throws if that is not possible, with nothing left behind.
---@param proposal claude-code.Proposal
---@param on claude-code.ViewCallbacks
---@return claude-code.View
---@return boolean focused
function M.open(proposal, on)
  local typing = timing.may_change() == "no_focus"
  local origin = focus.origin()
  local layout, saved = layouts.open(proposal, typing and origin.win or nil)
  local cursor = hunk_cursor.new(proposal, layout)
  local view = setmetatable({
    proposal = proposal,
    on = on,
    layout = layout,
    saved = saved,
    origin = origin,
    cursor = cursor,
    guard = input_guard.new(proposal:base()),
    bars = bars.new(proposal, layout, cursor, on.position),
    watching = {},
    stopped = false,
  }, View)
  view:watch()
  view:map_keys()
  view:show_bars()
  local focused = view:place_focus(typing)
  touch()
  return view, focused
end

---@private
---@param typing boolean the user types, and stays where they are
---@return boolean focused
function View:place_focus(typing)
  local wanted = require("claude-code.config").get().diff.focus
  if wanted and not typing then
    focus.take(self.layout.win, self.origin)
    return true
  elseif wanted and timing.in_terminal() then
    self:focus_when_idle()
  elseif self:is_inside() then
    -- A tab page of its own cannot be made without entering it.
    windows.noautocmd(function()
      focus.give_back(self.origin, self.saved.previous)
    end)
  end
  return false
end

---Moves into a diff that appeared beside a terminal in which the user types, once they pause there.
---@private
function View:focus_when_idle()
  self.watching.idle = keyboard.after_idle(timing.pause_ms(), function()
    if api.nvim_get_current_win() == self.origin.win and blocked.may_change() == "all" then
      self.origin = focus.origin()
      self.guard:restart()
      focus.take(self.layout.win, self.origin)
    end
  end)
end

---Ends what watches under this name.
---@private
---@param name string
function View:unwatch(name)
  local stop = self.watching[name]
  self.watching[name] = nil
  if stop then
    stop()
  end
end

---@private
function View:map_keys()
  self:unwatch("keys")
  self.watching.keys = keys.map(self.proposal:buffers(), self.on.actions, self.guard)
end

---Is it on screen, undecided, with all it is made of?
---@return boolean
function View:is_open()
  return not self.stopped and self.proposal:is_prepared()
end

---@return boolean is the cursor in one of its windows, or in another that shows a side of it?
function View:is_inside()
  return vim.tbl_contains(self.layout.windows, api.nvim_get_current_win())
    or vim.tbl_contains(self.proposal:buffers(), api.nvim_get_current_buf())
end

---@return integer[] wins that show the diff
---@return integer win the one with the proposal
function View:windows()
  return self.layout.windows, self.layout.win
end

---Counts, colours and bars as the proposal is now.
function View:refresh()
  if self:is_open() then
    self.layout:refresh()
    self.proposal.accepted:show_labels()
    self.bars:update()
  end
end

---The bars alone: the cursor moved, or another diff waits.
function View:show_bars()
  if self:is_open() then
    self.bars:show()
  end
end

---Tells the queue if the user has left the diff.
---@private
function View:check_windows()
  -- In this order: without the executable the diff closes by itself.
  if not self.stopped and channel.is_attached() and not self.layout:is_intact() then
    self.on.left()
  end
end

---The diff follows what happens to the file.
---@private
function View:check_file()
  if not self:is_open() then
    return
  end
  local written, edited = self.proposal:follow_disk(), self.proposal:find_unsaved()
  if written then
    self:map_keys()
    if api.nvim_get_mode().mode == "n" then
      -- Who is about to accept has not seen what they would overwrite.
      self.guard:restart()
    end
  end
  if written or edited then
    self:refresh()
    self.proposal.changes:report(self.proposal.unsaved)
  end
end

---@private
function View:watch_edits()
  self:unwatch("edits")
  self.watching.edits = refresh.on_edit(self.proposal.new_buf, function()
    self:refresh()
  end)
end

---@private
function View:watch()
  local group, stop = watch.start(self.proposal:buffers(), {
    windows = function()
      self:check_windows()
    end,
    file = function()
      self:check_file()
    end,
    cursor = function()
      self:show_bars()
    end,
  })
  self.watching.events = stop
  write.attach(self.proposal, self.guard, group, self.on.write, function()
    self:watch_edits()
  end)
  self:watch_edits()
end

---Ends all watching: what happens to the windows from now on decides nothing.
function View:stop()
  self.stopped = true
  for name in pairs(self.watching) do
    self:unwatch(name)
  end
end

---Closes now, with autocommands off; throws if Neovim refuses.
---@private
function View:remove()
  local inside = self:is_inside()
  windows.noautocmd(function()
    layouts.close(self.layout, self.proposal, self.saved)
    if inside then
      focus.give_back(self.origin, self.saved.previous)
    end
    saved_layout.restore(self.saved)
  end)
end

---Closes for a while, if windows may change now. The proposal keeps its edits.
---@return boolean done
function View:hide()
  if blocked.may_change() ~= "all" then
    return false
  end
  self:stop()
  self:remove()
  return true
end

---Closes as Neovim ends: what is saved by :mksession just now shows the user's windows.
function View:close_on_exit()
  self:stop()
  pcall(self.remove, self)
end

---Ends all watching at once, and brings the user's windows back as soon as they may change.
---@param done fun()
function View:close(done)
  self:stop()
  local function again()
    self:close(done)
  end
  local may = blocked.may_change()
  if may == "nothing" or (may == "no_focus" and self:is_inside()) then
    if may == "no_focus" then
      blocked.to_normal_mode()
    end
    return blocked.retry(again)
  end
  local ok, message = pcall(self.remove, self)
  if not ok and blocked.is_textlock_error(message) then
    return blocked.retry(again)
  elseif not ok then
    notify.error("closing a diff failed: " .. message)
  end
  self.proposal:discard()
  touch()
  done()
end

return M
