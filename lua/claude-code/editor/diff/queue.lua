--- The diffs that are open: one is on screen, the others wait for it, or for a pause in typing.
local answer = require("claude-code.editor.diff.answer")
local blocked = require("claude-code.editor.windows.blocked")
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")
local proposals = require("claude-code.editor.diff.proposal")
local timing = require("claude-code.editor.diff.timing")
local views = require("claude-code.editor.diff.view")

---@class claude-code.Diff one entry of the queue
---@field proposal claude-code.Proposal
---@field view? claude-code.View while it is on screen
---@field outcome? claude-code.DiffOutcome set once
---@field number integer which of its series
---@field series { total: integer } those that wait together, until none waits
---@field opened? boolean it was on screen before
---@field wait_reported? boolean
---@field paused? boolean it waited for a pause in typing before

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
  local failure = #self.waiting == 1 and self:try_next() or nil
  if self.shown then
    -- Its bar shows how many wait.
    self.shown.view:show_bars()
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
    if diff.proposal.id == id or (id == nil and diff == self.shown) then
      return diff
    end
  end
end

---@private
---@param diff claude-code.Diff
function Queue:remove_waiting(diff)
  self.waiting = vim.tbl_filter(function(other)
    return other ~= diff
  end, self.waiting)
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
  answer.send(diff.proposal, outcome)
  if diff ~= self.shown then
    self:remove_waiting(diff)
    diff.proposal:discard()
    return true
  end
  if outcome ~= "closed" and diff.view:is_inside() then
    -- Typed for this diff: the next one need not wait.
    keyboard.reset()
  end
  diff.view:close(function()
    diff.view, self.shown = nil, nil
    self:show_next()
  end, in_write)
  return true
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

---Shows another of those that wait; this one waits again, with the user's edits.
---@param step 1|-1
function Queue:switch(step)
  local diff, waiting = self.shown, self.waiting
  if not diff or diff.outcome or #waiting == 0 then
    notify.info("there is no other proposal")
    return
  elseif not diff.view:hide() then
    return
  end
  diff.view, self.shown = nil, nil
  keyboard.reset()
  if step > 0 then
    table.insert(waiting, diff)
  else
    table.insert(waiting, 1, diff)
    table.insert(waiting, 1, table.remove(waiting))
  end
  self:show_next()
end

---@param diff claude-code.Diff
---@param focused boolean
local function announce(diff, focused)
  local proposal = diff.proposal
  local reported = proposal.changes:report(proposal.unsaved)
  if diff.opened then
    return
  end
  diff.opened = true
  if not reported and not focused then
    notify.info(("a proposed change of %s is in another window"):format(proposal:base()))
  end
  answer.emit("DiffOpened", proposal)
end

---@private
---@param diff claude-code.Diff
function Queue:show(diff)
  local view, focused = views.open(diff.proposal, self.callbacks(diff))
  diff.view, self.shown = view, diff
  self:remove_waiting(diff)
  announce(diff, focused)
end

---Reports why a diff waits; of a short pause in typing that it waits for only once there was none.
---@param diff claude-code.Diff
local function report_wait(diff)
  local typing = blocked.may_change() == "all"
  if diff.wait_reported or (typing and not diff.paused) then
    diff.paused = typing or diff.paused
    return
  end
  diff.wait_reported = true
  local condition = typing and "you stop typing" or "you are back in normal mode"
  notify.info(("a proposed change of %s waits until %s"):format(diff.proposal:base(), condition))
end

---@private
---@param diff claude-code.Diff
function Queue:wait(diff)
  report_wait(diff)
  local ms = timing.ms_until_idle()
  blocked.retry(function()
    self:show_next()
  end, ms > 0 and ms or nil)
end

---Shows the next diff if none is on screen and windows may change.
---@private
---@return string? failure
function Queue:try_next()
  local diff = self.waiting[1]
  if self.shown or not diff then
    return
  elseif not timing.can_show() then
    return self:wait(diff)
  end
  local ok, message = pcall(self.show, self, diff)
  if ok then
    return
  elseif blocked.is_textlock_error(message) then
    return self:wait(diff)
  end
  self:remove_waiting(diff)
  require("claude-code.messages.log").error("showing a diff failed: %s", message)
  return tostring(message):match("^[^\n]*")
end

---Shows the next diff when nobody waits for the failure: one that cannot be shown is rejected, or
---its client would wait for good, and so would those behind it.
---@private
function Queue:show_next()
  local diff = self.waiting[1]
  local failure = self:try_next()
  if failure then
    local text = "the change of %s was rejected because it cannot be shown: %s"
    notify.error(text:format(diff.proposal:base(), failure))
    self:finish(diff, "rejected")
    self:show_next()
  end
end

return M
