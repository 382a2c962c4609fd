--- The queue of diffs: one is on screen, the others wait. Each is answered once.
local answer = require("claude-code.editor.diff.answer")
local blocked = require("claude-code.editor.windows.blocked")
local hunk_actions = require("claude-code.editor.diff.hunks.actions")
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")
local proposals = require("claude-code.editor.diff.proposal")
local timing = require("claude-code.editor.diff.timing")
local views = require("claude-code.editor.diff.view")

local M = {}

---@class claude-code.Diff one entry of the queue
---@field proposal claude-code.Proposal
---@field view? claude-code.View while it is on screen
---@field outcome? claude-code.DiffOutcome set once
---@field number integer which of its series
---@field series { total: integer } those that wait together, until none waits
---@field opened? boolean it was on screen before
---@field wait_reported? boolean
---@field paused? boolean it waited for a pause in typing before

local waiting = {} ---@type claude-code.Diff[] not on screen, the next one first
local shown ---@type claude-code.Diff? on screen, or ended and its windows about to close
local series = { total = 0 }

local finish, show_next, switch

---@param diff claude-code.Diff
local function remove(diff)
  waiting = vim.tbl_filter(function(other)
    return other ~= diff
  end, waiting)
end

---@param diff claude-code.Diff
---@param in_write? boolean
---@return boolean ended by this call; if not, the user was told why
local function accept(diff, in_write)
  if diff.outcome then
    return false
  end
  local outcome = diff.proposal:accept()
  if outcome then
    return finish(diff, outcome, in_write)
  elseif diff.view then
    diff.view:refresh()
  end
  return false
end

---@param diff claude-code.Diff
---@param act fun(proposal: claude-code.Proposal, cursor: claude-code.HunkCursor)
---@return fun()
local function on_screen(diff, act)
  return function()
    if diff.view and not diff.outcome then
      act(diff.proposal, diff.view.cursor)
      diff.view:refresh()
    end
  end
end

---@param diff claude-code.Diff
---@param direction 1|-1
---@return fun()
local function move(diff, direction)
  return on_screen(diff, function(_, cursor)
    cursor:move(direction * vim.v.count1)
  end)
end

---@param diff claude-code.Diff
---@return table<claude-code.DiffAction, fun()>
local function actions_on(diff)
  return {
    accept = function()
      accept(diff)
    end,
    reject = function()
      finish(diff, "rejected")
    end,
    next_hunk = move(diff, 1),
    previous_hunk = move(diff, -1),
    accept_hunk = on_screen(diff, hunk_actions.accept),
    drop_hunk = on_screen(diff, hunk_actions.drop),
    merge = on_screen(diff, function(proposal)
      proposal.merge:run()
    end),
    next_diff = function()
      switch(1)
    end,
    previous_diff = function()
      switch(-1)
    end,
  }
end

---@param diff claude-code.Diff
---@return claude-code.ViewCallbacks
local function callbacks(diff)
  return {
    actions = actions_on(diff),
    write = function()
      return accept(diff, true)
    end,
    left = function()
      finish(diff, "rejected")
    end,
    position = function()
      return diff.number, diff.series.total
    end,
  }
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

---@param diff claude-code.Diff
local function show(diff)
  local view, focused = views.open(diff.proposal, callbacks(diff))
  diff.view, shown = view, diff
  remove(diff)
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

---@param diff claude-code.Diff
local function wait(diff)
  report_wait(diff)
  local ms = timing.ms_until_idle()
  blocked.retry(show_next, ms > 0 and ms or nil)
end

---Shows the next diff if none is on screen and windows may change.
---@return string? failure
local function try_next()
  local diff = waiting[1]
  if shown or not diff then
    return
  elseif not timing.can_show() then
    return wait(diff)
  end
  local ok, message = pcall(show, diff)
  if ok then
    return
  elseif blocked.is_textlock_error(message) then
    return wait(diff)
  end
  remove(diff)
  require("claude-code.messages.log").error("showing a diff failed: %s", message)
  return tostring(message):match("^[^\n]*")
end

---Shows the next diff when nobody waits for the failure: one that cannot be shown is rejected, or
---its client would wait for good, and so would those behind it.
function show_next()
  local diff = waiting[1]
  local failure = try_next()
  if failure then
    local text = "the change of %s was rejected because it cannot be shown: %s"
    notify.error(text:format(diff.proposal:base(), failure))
    finish(diff, "rejected")
    show_next()
  end
end

---Takes the diff that has ended off the screen, and shows the next one.
---@param diff claude-code.Diff
local function close_view(diff)
  diff.view:close(function()
    diff.view, shown = nil, nil
    show_next()
  end)
end

---Ends a diff, whatever its state; a second end does nothing.
---@param diff claude-code.Diff
---@param outcome claude-code.DiffOutcome
---@param in_write? boolean its windows must wait until Neovim has written
---@return boolean ended by this call
function finish(diff, outcome, in_write)
  if diff.outcome then
    return false
  end
  diff.outcome = outcome
  answer.send(diff.proposal, outcome)
  if diff ~= shown then
    remove(diff)
    diff.proposal:discard()
    return true
  end
  if outcome ~= "closed" and diff.view:is_inside() then
    -- Typed for this diff: the next one need not wait.
    keyboard.reset()
  end
  diff.view:stop()
  if in_write then
    vim.schedule(function()
      close_view(diff)
    end)
  else
    close_view(diff)
  end
  return true
end

---Shows another of those that wait; this one waits again, with the user's edits.
---@param step 1|-1
function switch(step)
  local diff = shown
  if not diff or diff.outcome or #waiting == 0 then
    notify.info("there is no other proposal")
    return
  elseif not diff.view:hide() then
    return
  end
  diff.view, shown = nil, nil
  keyboard.reset()
  if step > 0 then
    waiting[#waiting + 1] = diff
  else
    table.insert(waiting, 1, diff)
    table.insert(waiting, 1, table.remove(waiting))
  end
  show_next()
end

---@return claude-code.Diff[] all that are open, the one on screen last
local function all()
  local diffs = vim.list_slice(waiting)
  if shown and not shown.outcome then
    diffs[#diffs + 1] = shown
  end
  return diffs
end

---@param id? integer
---@return claude-code.Diff? diff the one with this id; without it the one on screen
local function find(id)
  for _, diff in ipairs(all()) do
    if diff.proposal.id == id or (id == nil and diff == shown) then
      return diff
    end
  end
end

---Queues a proposal. Returns at once; the end comes as `diff_ended`.
---@param params claude-code.DiffParams
---@return true?
---@return claude-code.Failure?
function M.open(params)
  local stat = vim.uv.fs_stat(params.new_path)
  if stat and stat.type == "directory" then
    return nil, params.new_path .. " is a folder"
  end
  require("claude-code.editor.channel").on_detach(M.abandon)
  if #waiting == 0 and not shown then
    series = { total = 0 }
  end
  series.total = series.total + 1
  local diff = { proposal = proposals.new(params), series = series, number = series.total }
  waiting[#waiting + 1] = diff
  local failure = #waiting == 1 and try_next() or nil
  if shown then
    -- Its bar shows how many wait.
    shown.view:show_bars()
  end
  if failure then
    return nil, ("cannot show the change of %s: %s"):format(diff.proposal:base(), failure)
  end
  return true
end

---Ends diffs that the executable has answered itself.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  local count = 0
  -- The one on screen comes last, or the others would flash up behind it.
  for _, diff in ipairs(all()) do
    if vim.tbl_contains(params.ids, diff.proposal.id) and finish(diff, "closed") then
      count = count + 1
    end
  end
  return count
end

---@param id? integer without it the diff on screen
---@return boolean? done nil if there is none; false if not, and the user was told why
function M.accept(id)
  local diff = find(id)
  if diff then
    return accept(diff)
  end
end

---@param id? integer without it the diff on screen
---@return boolean? done nil if there is none
function M.reject(id)
  local diff = find(id)
  if diff then
    return finish(diff, "rejected")
  end
end

---Does what a key of the diff on screen does.
---@param action claude-code.DiffAction
---@return boolean? done nil if there is none
function M.act(action)
  local diff = find()
  if diff then
    actions_on(diff)[action]()
    return true
  end
end

---The executable is gone: nobody waits for an answer any more.
function M.abandon()
  for _, diff in ipairs(all()) do
    finish(diff, "closed")
  end
end

---@return claude-code.Diff? shown
function M.current()
  return find()
end

---@return integer count of diffs that wait for the user
function M.count()
  return #all()
end

---Neovim ends: the answers go out, and what is saved by :mksession shows the user's windows.
function M.exit()
  for _, diff in ipairs(all()) do
    diff.outcome = "rejected"
    answer.send(diff.proposal, "rejected")
    if diff.view then
      diff.view:close_on_exit()
    end
  end
end

return M
