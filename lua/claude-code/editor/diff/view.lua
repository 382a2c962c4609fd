--- One diff on screen: opens its windows, notices how the user leaves them, and closes all that it
--- opened.
local api = vim.api
local bars = require("claude-code.editor.diff.bars")
local blocked = require("claude-code.editor.input.blocked")
local focus = require("claude-code.editor.windows.focus")
local hunk_cursor = require("claude-code.editor.diff.hunk_cursor")
local closer = require("claude-code.editor.diff.closer")
local key_hints = require("claude-code.editor.diff.key_hints")
local keyboard = require("claude-code.editor.input.keyboard")
local layouts = require("claude-code.editor.diff.layout")
local saved_layout = require("claude-code.editor.windows.layout")
local when = require("claude-code.editor.diff.when")
local watch = require("claude-code.editor.diff.watch")
local windows = require("claude-code.editor.windows")

---@class claude-code.ViewCallbacks
---@field actions table<claude-code.DiffAction, fun()> what the keys do
---@field write fun(force: boolean): boolean accept, called in the middle of a write; false: not accepted
---@field closed fun() the user closed a window of the diff on purpose
---@field left fun() one of its windows was closed, or shows something else
---@field position fun(): integer, integer the diff's number, and of how many

---@class claude-code.View
---@field cursor claude-code.HunkCursor
---@field guard claude-code.DecisionGuard
---@field proposal claude-code.Proposal
---@field private layout claude-code.Layout
---@field private saved claude-code.SavedLayout the windows before
---@field private origin claude-code.Origin where the user was
---@field private bars claude-code.Bars
---@field private watch claude-code.Watch
---@field private closing boolean
---@field private is_count_due? boolean
---@field closing_as? claude-code.Closing
---@field private on claude-code.ViewCallbacks
local View = {}
View.__index = View

local M = {}

---Shows a diff; throws if that is not possible, with nothing left behind.
---@param proposal claude-code.Proposal
---@param on claude-code.ViewCallbacks
---@return claude-code.View
---@return boolean focused
function M.open(proposal, on)
  local typing = when.may_change() == "no_focus"
  local origin = focus.origin()
  local view = setmetatable({
    proposal = proposal,
    on = on,
    origin = origin,
    guard = when.guard(proposal:title()),
    closing = false,
  }, View)
  view:show(typing and origin.win or nil)
  local focused = view:place_focus(typing)
  closer.touch()
  return view, focused
end

---Opens its windows.
---@private
---@param except? integer window that must not change, as the user types there
function View:show(except)
  local proposal, on = self.proposal, self.on
  local layout, saved = layouts.open(proposal, except)
  self.layout, self.saved = layout, saved
  self.cursor = hunk_cursor.new(proposal, layout)
  self.bars = bars.new(proposal, layout, self.cursor, on.position)
  if proposal.cursor then
    api.nvim_win_call(layout.win, function()
      vim.fn.winrestview(proposal.cursor)
    end)
  end
  self.watch = watch.start(self, proposal, on)
  self:show_bars()
end

---@private
function View:take_focus()
  focus.take(self.layout.win, self.origin)
  key_hints.prepare(self.proposal:buffers())
end

---@private
---@param typing boolean the user types, and stays where they are
---@return boolean focused
function View:place_focus(typing)
  local wanted = require("claude-code.config").get().diff.focus
  if wanted and not typing then
    self:take_focus()
    return true
  elseif wanted and when.in_terminal() then
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
  self.watch:replace("idle", function()
    return keyboard.after_idle(when.pause_ms(), function()
      if api.nvim_get_current_win() == self.origin.win and blocked.may_change() == "all" then
        self.origin = focus.origin()
        self.guard:restart("appeared")
        self:take_focus()
      end
    end)
  end)
end

---Is it on screen, undecided, with all it is made of?
---@return boolean
function View:is_open()
  return not self.closing and self.proposal:is_prepared()
end

---Did the user leave its windows as they are?
---@return boolean
function View:is_intact()
  return self.layout:is_intact()
end

---@return integer[]
function View:windows()
  return self.layout.windows
end

---@return boolean is the cursor in one of its windows, or in another that shows a side of it?
function View:is_inside()
  return vim.tbl_contains(self.layout.windows, api.nvim_get_current_win())
    or vim.tbl_contains(self.proposal:buffers(), api.nvim_get_current_buf())
end

---Counts, colours and bars as the proposal is now.
function View:refresh()
  if self:is_open() and self:is_intact() then
    self.layout:refresh()
    self.proposal.accepted:show_labels()
    self.bars:update()
  end
end

---The screen has another size.
function View:even_out()
  if self:is_open() then
    self.layout:even_out()
  end
end

---The bars alone: the cursor moved.
function View:show_bars()
  if self:is_open() and self:is_intact() then
    self.bars:show()
  end
end

---Other diffs wait: their number is shown once for all that come together.
function View:show_count()
  if self.is_count_due then
    return
  end
  self.is_count_due = true
  vim.schedule(function()
    self.is_count_due = false
    self:show_bars()
  end)
end

---@private
function View:stop()
  self.closing = true
  self.watch:stop()
end

---Keeps where the user was in the proposal. The window may show something else by now, or be gone.
---@private
function View:save_cursor()
  local proposal = self.proposal
  local buf = proposal.new_buf --[[@as integer]]
  local win = vim.fn.win_findbuf(buf)[1]
  if win then
    proposal.cursor = api.nvim_win_call(win, vim.fn.winsaveview)
  elseif not api.nvim_buf_is_loaded(buf) then
    proposal.cursor = nil
  else
    local line, column = unpack(api.nvim_buf_get_mark(buf, '"'))
    proposal.cursor = line > 0 and { lnum = line, col = column } or nil
  end
end

---Closes now, with autocommands off; throws if Neovim refuses. A user who opened something in its
---place stays there.
---@param back_to_terminal boolean a user who came from a terminal goes on typing in it
function View:remove(back_to_terminal)
  local origin = self.origin
  local is_inside = vim.tbl_contains(self.proposal:buffers(), api.nvim_get_current_buf())
  origin.terminal = origin.terminal and back_to_terminal
  self:save_cursor()
  windows.noautocmd(function()
    layouts.close(self.layout, self.proposal, self.saved, origin)
    if is_inside then
      focus.give_back(origin, self.saved.previous)
    end
    saved_layout.restore(self.saved)
  end)
end

---Closes for another diff, if windows may change now. The proposal keeps its edits.
---@return boolean done
function View:hide()
  if blocked.may_change() ~= "all" then
    return false
  end
  self:stop()
  self:remove(true)
  return true
end

---Closes as Neovim ends: what is saved by :mksession just now shows the user's windows.
function View:close_on_exit()
  if not self.closing then
    self:stop()
    pcall(self.remove, self, false)
  end
end

---Ends all watching at once, and brings the user's windows back as soon as they may change. A later
---call counts in place of an earlier one.
---@param closing claude-code.Closing
function View:close(closing)
  local is_closing = self.closing_as ~= nil
  self.closing_as = closing
  self:stop()
  if not is_closing then
    closer.start(self)
  end
end

return M
