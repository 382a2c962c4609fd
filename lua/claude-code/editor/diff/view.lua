--- One diff on screen: opens its windows, notices how the user leaves them, and closes all that it opened.
local api = vim.api
local accepted = require("claude-code.editor.diff.accepted")
local bars = require("claude-code.editor.diff.bars")
local blocked = require("claude-code.editor.input.blocked")
local focus = require("claude-code.editor.windows.focus")
local keyboard = require("claude-code.editor.input.keyboard")
local layouts = require("claude-code.editor.diff.layout")
local notify = require("claude-code.messages.notify")
local saved_layout = require("claude-code.editor.windows.layout")
local sync = require("claude-code.editor.sync")
local when = require("claude-code.editor.diff.when")
local watch = require("claude-code.editor.diff.watch")
local windows = require("claude-code.editor.windows")

---How a view closes.
---@class claude-code.Closing
---@field done fun()
---@field back_to_terminal? boolean a user who came from a terminal goes on typing in it
---@field undecided? boolean the proposal keeps its buffers, and nobody's insert mode is ended
---@field in_write? boolean Neovim is writing the proposal, and needs its window until it has

---@class claude-code.View
---@field moved_to? { index: integer, tick: integer, win: integer, line: integer } hunk the cursor was moved to; with
--- two hunks on one line it says which
---@field guard claude-code.DecisionGuard
---@field diff claude-code.Diff
---@field proposal claude-code.Proposal
---@field layout claude-code.Layout
---@field private saved claude-code.SavedLayout the windows before
---@field private origin claude-code.Origin where the user was
---@field is_outside boolean the file is outside of the workspace
---@field found claude-code.BarFindings by the last update of the bars
---@field watch claude-code.Watch
---@field private closing boolean
---@field private closing_as? claude-code.Closing
local View = {}
View.__index = View

local M = {}

---Popups of which-key.nvim and mini.clue for the keys of a diff. Both prepare a buffer when it is entered; a diff
---is entered with autocommands off, so that nothing else attaches to it.
---@param buffers integer[] of the diff, one of them the current buffer
local function prepare_key_popups(buffers)
  local clue = rawget(_G, "MiniClue")
  for _, buf in ipairs(clue and buffers or {}) do
    pcall(clue.ensure_buf_triggers, buf)
  end
  if package.loaded["which-key"] then
    -- The group is which-key's own (version 3).
    local event = { group = "wk", buffer = api.nvim_get_current_buf(), modeline = false }
    pcall(api.nvim_exec_autocmds, "BufEnter", event)
  end
end

---Shows a diff; throws if that is not possible, with nothing left behind.
---@param diff claude-code.Diff
---@return claude-code.View
---@return boolean focused
function M.open(diff)
  local typing = diff.stays or when.may_change(diff.asked_for) == "no_focus"
  local proposal, origin = diff.proposal, focus.origin()
  -- A user who types stays in that window.
  local layout, saved = layouts.open(proposal, typing and origin.win or nil)
  local view = setmetatable({
    diff = diff,
    proposal = proposal,
    layout = layout,
    saved = saved,
    origin = origin,
    guard = when.guard("the change of " .. proposal:title(), diff.asked_for),
    is_outside = proposal.destination:is_outside(),
    closing = false,
  }, View)
  if proposal.cursor then
    api.nvim_win_call(layout.win, function()
      vim.fn.winrestview(proposal.cursor)
      layout:refresh()
      -- Old lines above its first row count once they are drawn.
      vim.fn.winrestview(proposal.cursor)
    end)
  end
  view.watch = watch.start(view)
  view:refresh()
  local focused = view:place_focus(typing)
  -- Windows and buffers came with autocommands off: the mirror of the editor's state looks.
  sync.touch()
  return view, focused
end

---@private
function View:take_focus()
  focus.take(self.layout.win, self.origin)
  prepare_key_popups(self.proposal:buffers())
end

---@private
---@param typing boolean the user types, and stays where they are
---@return boolean focused
function View:place_focus(typing)
  local wanted = require("claude-code.config").get().diff.focus
  if wanted and not typing then
    self:take_focus()
    return true
  elseif self:is_inside() then
    -- A tab page of its own cannot be made without entering it.
    windows.noautocmd(function()
      focus.give_back(self.origin, self.saved.previous)
    end)
  end
  if wanted and self.origin.terminal and not self.diff.stays then
    self:focus_when_idle()
  end
  return false
end

---Moves into a diff that appeared beside a terminal in which the user types, once they pause there.
---@private
function View:focus_when_idle()
  self.watch:replace("idle", function()
    return keyboard.after_idle(when.pause_ms(), function()
      if api.nvim_get_current_win() == self.origin.win and when.may_change() == "all" then
        self:enter()
      end
    end)
  end)
end

---Moves the cursor into it from where the user is now.
---@param asked? boolean they have asked for it
function View:enter(asked)
  self.origin = focus.origin()
  self.guard:restart("got the cursor", asked)
  self:take_focus()
end

---@return boolean on screen, undecided, with all it is made of
function View:is_open()
  return not self.closing and self.proposal:is_prepared()
end

---@return boolean is the cursor in one of its windows, or in another that shows a side of it?
function View:is_inside()
  return vim.tbl_contains(self.layout.windows, api.nvim_get_current_win())
    or vim.tbl_contains(self.proposal:buffers(), api.nvim_get_current_buf())
end

---Counts, colours and bars as the proposal is now.
function View:refresh()
  if self:is_open() and self.layout:is_intact() then
    self.layout:refresh()
    accepted.show_labels(self.proposal)
    bars.update(self)
  end
end

---The bars alone: the cursor moved, or another diff waits.
function View:show_bars()
  if self:is_open() and self.layout:is_intact() then
    bars.show(self)
  end
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

---Closes now, with autocommands off; throws if Neovim refuses. A user who opened something in its place stays there.
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

---@private
function View:may_close()
  local may = blocked.may_change()
  if may == "no_focus" and self:is_inside() then
    if not self.closing_as.undecided then
      blocked.to_normal_mode()
    end
    return false
  end
  return may ~= "nothing"
end

---Closes as `closing_as` says by now, or tries again as soon as windows may change.
---@private
function View:try_to_close()
  local function again()
    self:try_to_close()
  end
  if not self:may_close() then
    return blocked.retry(again)
  end
  local closing = self.closing_as --[[@as claude-code.Closing]]
  local ok, message = pcall(self.remove, self, closing.back_to_terminal or false)
  if not ok and blocked.is_textlock_error(message) then
    return blocked.retry(again)
  elseif not ok then
    notify.error("closing a diff failed: " .. message)
  end
  if not closing.undecided then
    self.proposal:discard()
  end
  sync.touch()
  closing.done()
end

---Ends all watching at once, and brings the user's windows back as soon as they may change. A later
---call counts in place of an earlier one.
---@param closing claude-code.Closing
function View:close(closing)
  local is_closing = self.closing_as ~= nil
  self.closing_as = closing
  self:stop()
  if is_closing then
    return
  elseif closing.in_write then
    vim.schedule(function()
      self:try_to_close()
    end)
  else
    self:try_to_close()
  end
end

return M
