--- The diffs that are open: one is on screen, the others wait for it, or for a pause in typing.
local channel = require("claude-code.server.channel")
local announce = require("claude-code.editor.diff.announce")
local answer = require("claude-code.editor.diff.answer")
local aside = require("claude-code.editor.diff.aside")
local blocked = require("claude-code.editor.input.blocked")
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")
local owner = require("claude-code.editor.diff.owner")
local proposals = require("claude-code.editor.diff.proposal")
local when = require("claude-code.editor.diff.when")
local views = require("claude-code.editor.diff.view")

---@class claude-code.Diff one entry of the queue
---@field proposal claude-code.Proposal
---@field view? claude-code.View while it is on screen
---@field outcome? claude-code.DiffOutcome set once
---@field reason? string why the user rejects it, for Claude
---@field number integer which of its series
---@field series { total: integer } those that wait together, until none waits
---@field opened? boolean it was on screen before
---@field wait_reported? boolean
---@field paused? boolean it waited for a pause in typing before
---@field aside? boolean the user left it undecided, so that it does not come back by itself
---@field unwatch? fun() while it is aside
---@field asked_for? boolean the user wants to see it now, whatever else they do

---@class claude-code.Queue
---@field private waiting claude-code.Diff[] not on screen, the next one first
---@field private shown? claude-code.Diff on screen, or ended and its windows about to close
---@field private series { total: integer }
---@field private callbacks fun(diff: claude-code.Diff): claude-code.ViewCallbacks
local Queue = {}
Queue.__index = Queue

local M = {}

---@param callbacks fun(diff: claude-code.Diff): claude-code.ViewCallbacks
---@return claude-code.Queue
function M.new(callbacks)
  return setmetatable({ waiting = {}, series = { total = 0 }, callbacks = callbacks }, Queue)
end

---Queues a proposal, and shows it if none is on screen and windows may change.
---@param params claude-code.DiffParams
---@return string? failure it cannot be shown, and is not in the queue
function Queue:add(params)
  if #self.waiting == 0 and not self.shown then
    self.series = { total = 0 }
  end
  local series = self.series
  series.total = series.total + 1
  local diff = { proposal = proposals.new(params), series = series, number = series.total }
  table.insert(self.waiting, diff)
  local is_next = not self.shown and self:next_up() == diff
  local failure = is_next and self:try_next() or nil
  if self.shown and not self.shown.aside then
    self.shown.view:show_count()
  end
  return failure
end

---@return claude-code.Diff[] all that are open, the one on screen last
function Queue:all()
  local diffs = vim.list_slice(self.waiting)
  if self.shown and not self.shown.outcome then
    diffs[#diffs + 1] = self.shown
  end
  return diffs
end

---@param id? integer
---@return claude-code.Diff? diff the one with this id; without it the one on screen
function Queue:find(id)
  for _, diff in ipairs(self:all()) do
    local on_screen = diff == self.shown and not diff.aside
    if diff.proposal.id == id or (id == nil and on_screen) then
      return diff
    end
  end
end

---@private
---@return claude-code.Diff? diff that is shown by itself
function Queue:next_up()
  return owner.first(self.waiting)
end

---The keys that show one that waits are mapped in all windows while none is on screen.
---@private
function Queue:update_keys()
  aside.set_keys(#self.waiting > 0 and not self.shown, {
    next_diff = function()
      self:switch(1)
    end,
    previous_diff = function()
      self:switch(-1)
    end,
  })
end

---@private
---@param diff claude-code.Diff
function Queue:remove_waiting(diff)
  if diff.unwatch then
    diff.unwatch()
    diff.unwatch = nil
  end
  for index, other in ipairs(self.waiting) do
    if other == diff then
      table.remove(self.waiting, index)
      return
    end
  end
end

---Ends a diff, whatever its state; a second end does nothing.
---@param diff claude-code.Diff
---@param outcome claude-code.DiffOutcome
---@param in_write? boolean its windows must wait until Neovim has written
---@return boolean ended by this call
function Queue:finish(diff, outcome, in_write)
  if diff.outcome then
    return false
  end
  diff.outcome = outcome
  answer.send(diff.proposal, outcome, diff.reason)
  if diff ~= self.shown then
    self:remove_waiting(diff)
    self:update_keys()
    diff.proposal:discard()
    return true
  end
  if outcome ~= "closed" and diff.view:is_inside() then
    -- Typed for this diff: the next one need not wait.
    keyboard.reset()
  end
  diff.view:close({
    in_write = in_write,
    -- Of a lost connection the terminal's program knows nothing: it would take the next key.
    back_to_terminal = outcome ~= "closed" and channel.is_attached(),
    done = function()
      diff.view, self.shown = nil, nil
      self:show_next(outcome ~= "closed")
    end,
  })
  return true
end

---The user left the diff on screen undecided: it waits, with their edits, until they show it again.
---@param diff claude-code.Diff
function Queue:put_aside(diff)
  if diff.outcome or diff.aside or diff ~= self.shown then
    return
  end
  diff.aside = true
  diff.view:close({
    undecided = true,
    done = function()
      diff.view, self.shown = nil, nil
      table.insert(self.waiting, diff)
      diff.unwatch = aside.watch_buffers(diff.proposal, function()
        self:bring_back(diff)
      end)
      self:show_next()
      announce.aside(diff)
    end,
  })
end

---@private
---@param diff claude-code.Diff waiting
function Queue:bring_back(diff)
  if self.shown and (self.shown.aside or not self.shown.view:hide()) then
    return
  end
  local before = self.shown
  self:remove_waiting(diff)
  table.insert(self.waiting, 1, diff)
  if before then
    before.view, self.shown = nil, nil
    table.insert(self.waiting, before)
  end
  self:show_first()
end

---Neovim ends: the answers go out, and what is saved by :mksession shows the user's windows.
function Queue:exit()
  for _, diff in ipairs(self:all()) do
    diff.outcome = "rejected"
    answer.send(diff.proposal, "rejected")
    if diff.view then
      diff.view:close_on_exit()
    end
  end
end

---Shows another of those that wait; the one on screen waits again, with the user's edits.
---@param step 1|-1
function Queue:switch(step)
  local diff, waiting = self.shown, self.waiting
  if #waiting == 0 then
    notify.info("there is no other proposal", "diff")
    return
  elseif diff and (diff.outcome or diff.aside or not diff.view:hide()) then
    return
  elseif diff then
    diff.view, self.shown = nil, nil
    table.insert(waiting, step > 0 and #waiting + 1 or 1, diff)
  end
  if step < 0 then
    table.insert(waiting, 1, table.remove(waiting))
  end
  self:show_first()
end

---Shows the first of those that wait, even if the user left it.
---@private
function Queue:show_first()
  keyboard.reset()
  self.waiting[1].aside, self.waiting[1].asked_for = nil, true
  self:show_next()
end

---@private
---@param diff claude-code.Diff
function Queue:show(diff)
  local view, focused = views.open(diff.proposal, self.callbacks(diff))
  diff.view, self.shown, diff.asked_for = view, diff, nil
  self:remove_waiting(diff)
  self:update_keys()
  announce.opened(diff, focused)
end

---@param diff claude-code.Diff
---@param show fun()
local function wait(diff, show)
  announce.waits(diff)
  local ms = when.ms_until_idle()
  blocked.retry(show, ms > 0 and ms or nil)
end

---Shows the next diff if none is on screen and windows may change.
---@private
---@param decided? boolean the user has just decided another one
---@return string? failure
function Queue:try_next(decided)
  local function later()
    self:show_next()
  end
  self:update_keys()
  local diff = self:next_up()
  if self.shown or not diff then
    return
  elseif not when.can_show() then
    return wait(diff, later)
  end
  local reason = not diff.asked_for and when.busy(decided)
  if reason then
    announce.waits_while_busy(diff, reason)
    return when.after_busy(later)
  end
  local ok, message = pcall(self.show, self, diff)
  if ok then
    return
  elseif blocked.is_textlock_error(message) then
    return wait(diff, later)
  end
  self:remove_waiting(diff)
  require("claude-code.messages.log").error("showing a diff failed: %s", message)
  return tostring(message):match("^[^\n]*")
end

---Shows the next diff when nobody waits for the failure: one that cannot be shown is rejected, or
---its client would wait for good, and so would those behind it.
---@private
---@param decided? boolean the user has just decided another one
function Queue:show_next(decided)
  local diff = self:next_up()
  local failure = self:try_next(decided)
  if failure then
    local text = "the change of %s was rejected because it cannot be shown: %s"
    notify.error(text:format(diff.proposal:title(), failure))
    self:finish(diff, "rejected")
    self:show_next()
  end
end

return M
