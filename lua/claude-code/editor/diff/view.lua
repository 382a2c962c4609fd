--- A diff on screen: opens its windows, moves the cursor there and back, and closes everything that it opened.
local api = vim.api
local bars = require("claude-code.editor.diff.bars")
local blocked = require("claude-code.editor.input.blocked")
local focus = require("claude-code.editor.windows.focus")
local hunk_by_hunk = require("claude-code.editor.diff.hunk_by_hunk")
local keyboard = require("claude-code.editor.input.keyboard")
local layouts = require("claude-code.editor.diff.layout")
local notify = require("claude-code.messages.notify")
local saved_layout = require("claude-code.editor.windows.layout")
local sync = require("claude-code.editor.sync")
local watch = require("claude-code.editor.diff.watch")
local windows = require("claude-code.editor.windows")

---@class claude-code.Closing
---@field done fun()
---@field back_to_terminal? boolean a user who came from a terminal continues to type in it
---@field undecided? boolean the proposal keeps its buffers, and no insert mode is ended
---@field in_write? boolean Neovim is writing the proposal, and needs its window until it has

---@class claude-code.View
---@field diff claude-code.Diff
---@field proposal claude-code.Proposal
---@field layout claude-code.Layout
---@field guard claude-code.DecisionGuard
---@field watch claude-code.Watch
---@field is_outside boolean the file is outside of the workspace
---@field found claude-code.BarFindings by the last update of the bars
---@field moved_to? { index: integer, tick: integer, win: integer, line: integer } the hunk to which the cursor was
--- moved, as two may be on one line
---@field private saved claude-code.SavedLayout the windows before
---@field private origin claude-code.Origin where the user was
---@field private is_over? boolean it closes, or has closed
---@field private closing? claude-code.Closing
local View = {}
View.__index = View

local M = {}

---Shows a diff. Throws if that fails, and leaves nothing behind.
---@return claude-code.View, boolean focused
function M.open(diff)
  local is_typing = diff.no_focus or focus.may_change(diff.asked_for) == "no_focus"
  local proposal, origin = diff.proposal, focus.origin()
  -- A user who types keeps their window.
  local layout, saved = layouts.open(proposal, is_typing and origin.win or nil)
  local view = setmetatable({
    diff = diff,
    proposal = proposal,
    layout = layout,
    saved = saved,
    origin = origin,
    guard = keyboard.guard("the change of " .. proposal:title(), diff.asked_for),
    is_outside = proposal:is_outside(),
  }, View)
  if proposal.cursor then
    api.nvim_win_call(layout.win, function()
      vim.fn.winrestview(proposal.cursor)
      layout:refresh()
      -- Again, now that the old lines above its first row are drawn.
      vim.fn.winrestview(proposal.cursor)
    end)
  end
  view.watch = watch.start(view)
  view:refresh()
  local focused = view:place_focus(is_typing)
  -- Autocommands were off, so the executable's copy of the state is out of date.
  sync.touch()
  return view, focused
end

---@private
function View:take_focus()
  focus.take(self.layout.win, self.origin)
  -- mini.clue and which-key (its group is "wk") prepare a buffer when it is entered, but autocommands were off.
  local ensure = vim.tbl_get(_G, "MiniClue", "ensure_buf_triggers")
  for _, buf in ipairs(ensure and self.proposal:buffers() or {}) do
    pcall(ensure, buf)
  end
  local event = { group = "wk", buffer = api.nvim_get_current_buf(), modeline = false }
  pcall(api.nvim_exec_autocmds, "BufEnter", event)
end

---@private
---@param is_typing boolean the user stays where they are
---@return boolean focused
function View:place_focus(is_typing)
  local is_wanted = require("claude-code.config").get().diff.focus
  if is_wanted and not is_typing then
    self:take_focus()
    return true
  elseif self:is_inside() then
    -- A tab page of its own cannot be made without entering it.
    windows.noautocmd(function()
      focus.give_back(self.origin, self.saved.previous)
    end)
  end
  if is_wanted and self.origin.terminal and not self.diff.no_focus then
    -- The user types in a terminal beside it: move the cursor once they pause.
    self.watch:replace("idle", function()
      return keyboard.after_idle(focus.pause_ms(), function()
        if api.nvim_get_current_win() == self.origin.win and focus.may_change() == "all" then
          self:enter()
        end
      end)
    end)
  end
  return false
end

---@param asked? boolean they have asked for it
function View:enter(asked)
  self.origin = focus.origin()
  self.guard:restart("got the cursor", asked)
  self:take_focus()
end

---@return boolean on screen, undecided, and complete
function View:is_open()
  return not self.is_over and self.proposal:is_prepared()
end

---@return boolean the cursor is in one of its windows, or in another that shows one of its buffers
function View:is_inside()
  return vim.list_contains(self.layout.windows, api.nvim_get_current_win())
    or vim.list_contains(self.proposal:buffers(), api.nvim_get_current_buf())
end

---Follows an edit of the proposal.
function View:refresh()
  if self:is_open() and self.layout:is_intact() then
    self.layout:refresh()
    hunk_by_hunk.show_labels(self.proposal)
    bars.update(self)
  end
end

function View:show_bars()
  if self:is_open() and self.layout:is_intact() then
    bars.show(self)
  end
end

---Closes now, with autocommands off. Throws if Neovim refuses. A user who opened something in its place keeps it.
---@private
function View:remove(back_to_terminal)
  local origin, proposal = self.origin, self.proposal
  local is_inside = vim.list_contains(proposal:buffers(), api.nvim_get_current_buf())
  origin.terminal = origin.terminal and back_to_terminal == true
  local buf = proposal.new_buf --[[@as integer]]
  local win = vim.fn.win_findbuf(buf)[1]
  if win then
    proposal.cursor = api.nvim_win_call(win, vim.fn.winsaveview)
  else
    -- The window shows something else by now, or is gone.
    local is_loaded = api.nvim_buf_is_loaded(buf)
    local line, column = unpack(is_loaded and api.nvim_buf_get_mark(buf, '"') or { 0, 0 })
    proposal.cursor = line > 0 and { lnum = line, col = column } or nil
  end
  windows.noautocmd(function()
    layouts.close(self.layout, proposal, self.saved, origin)
    if is_inside then
      focus.give_back(origin, self.saved.previous)
    end
    saved_layout.restore(self.saved)
  end)
end

---Closes for another diff if windows may change. The proposal keeps its edits.
---@return boolean done
function View:hide()
  if blocked.may_change() ~= "all" then
    return false
  end
  self:stop()
  self:remove(true)
  return true
end

---Brings the user's windows back as Neovim exits, before :mksession saves them.
function View:close_on_exit()
  if not self.is_over then
    self:stop()
    pcall(self.remove, self)
  end
end

---@private
function View:stop()
  self.is_over = true
  self.watch:stop()
end
---Stops watching at once, and brings the user's windows back as soon as they may change. A later call replaces an
---earlier one.
function View:close(closing)
  local is_closing = self.closing ~= nil
  self.closing = closing
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

---@private
function View:try_to_close()
  local closing, may =
    self.closing, --[[@as claude-code.Closing]]
    blocked.may_change()
  local is_typed_in = may == "no_focus" and self:is_inside()
  if is_typed_in and not closing.undecided then
    blocked.to_normal_mode()
  end
  local may_close, ok, message = may ~= "nothing" and not is_typed_in, false, nil
  if may_close then
    ok, message = pcall(self.remove, self, closing.back_to_terminal)
  end
  if not may_close or not ok and blocked.is_textlock_error(message) then
    return blocked.retry(function()
      self:try_to_close()
    end)
  elseif not ok then
    notify.error("closing a diff failed: " .. message)
  end
  if not closing.undecided then
    self.proposal:discard()
  end
  sync.touch()
  closing.done()
end

return M
