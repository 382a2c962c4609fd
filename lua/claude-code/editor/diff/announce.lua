--- What the user is shown about a diff in the queue: that it opened, or why it waits.
local answer = require("claude-code.editor.diff.answer")
local aside = require("claude-code.editor.diff.aside")
local blocked = require("claude-code.editor.input.blocked")
local notify = require("claude-code.messages.notify")

---What is reported here replaces what was reported before: it is out of date.
local TOPIC = "diff"

local M = {}

---It is on screen.
---@param diff claude-code.Diff
---@param focused boolean
function M.opened(diff, focused)
  local proposal = diff.proposal
  local reported = proposal.changes:report(proposal.unsaved)
  if diff.opened then
    return
  end
  diff.opened = true
  if not reported and not focused then
    notify.info(("a proposed change of %s is in another window"):format(proposal:title()), TOPIC)
  end
  answer.emit("DiffOpened", proposal)
end

---Reports why a diff waits; of a short pause in typing that it waits for only once there was none.
---@param diff claude-code.Diff
function M.waits(diff)
  local typing = blocked.may_change() == "all"
  if diff.wait_reported or (typing and not diff.paused) then
    diff.paused = typing or diff.paused
    return
  end
  diff.wait_reported = true
  local condition = typing and "you stop typing" or "you are back in normal mode"
  notify.info(
    ("a proposed change of %s waits until %s"):format(diff.proposal:title(), condition),
    TOPIC
  )
end

local BUSY = {
  float = "this window closes",
  key = "you have typed what another plugin asks for",
  macro = "the macro ends",
}

---@param diff claude-code.Diff
---@param reason claude-code.BusyReason
function M.waits_while_busy(diff, reason)
  if diff.wait_reported then
    return
  end
  diff.wait_reported = true
  local text = "a proposed change of %s waits until %s; %s shows it now"
  notify.info(text:format(diff.proposal:title(), BUSY[reason], aside.ways()), TOPIC)
end

---The user left it undecided.
---@param diff claude-code.Diff
function M.aside(diff)
  notify.info(
    ("a proposed change of %s waits: %s"):format(diff.proposal:title(), aside.ways()),
    TOPIC
  )
end

return M
