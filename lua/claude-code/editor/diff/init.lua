--- The diffs that wait for a person: one is shown, the others queue. Each is answered once.
local blocked = require("claude-code.editor.windows.blocked")
local choice = require("claude-code.editor.diff.hunks.actions")
local merge = require("claude-code.editor.diff.merge")
local freshness = require("claude-code.editor.diff.external_changes")
local keyboard = require("claude-code.editor.input.keyboard")
local path = require("claude-code.editor.documents.path")
local quiet = require("claude-code.editor.diff.input_lock")
local notify = require("claude-code.messages.notify")
local screen = require("claude-code.editor.diff.view")
local winbar = require("claude-code.editor.diff.winbar")

local M = {}

local waiting = {} ---@type claude-code.Diff[] not shown yet, the next one first
local shown ---@type claude-code.Diff? on screen, or ended and about to leave it
---Those that wait together are counted together.
local series = { total = 0 }

local advance, finish, go_on, switch

---@param event "DiffOpened"|"DiffAccepted"|"DiffRejected"|"DiffClosed"
---@param session claude-code.Diff
local function emit(event, session)
  require("claude-code.events").emit(event, {
    id = session.id,
    client = session.client,
    path = session.new_path,
  })
end

---@param session claude-code.Diff
local function drop(session)
  waiting = vim.tbl_filter(function(other)
    return other ~= session
  end, waiting)
end

local function leave_screen()
  screen.leave(shown, function()
    shown = nil
    go_on()
  end)
end

---Accepts what the person has made of the proposal, if that can be.
---@param session claude-code.Diff
---@param busy? boolean
---@return boolean ended by this call
local function accept(session, busy)
  if session.outcome then
    return false
  elseif not freshness.may_accept(session) then
    screen.update(session)
    return false
  elseif not session:is_prepared() then
    return finish(session, "accepted", busy)
  elseif merge.has_conflicts(session) then
    notify.warn("conflicts are left in the proposal: resolve them, or undo the merge, then accept")
    return false
  end
  quiet.wake(session)
  if not choice.settle(session) then
    screen.update(session)
    return false
  elseif session:result().empty then
    notify.info("nothing was left of the proposal: rejected")
    return finish(session, "rejected", busy)
  end
  return finish(session, "accepted", busy)
end

---@param session claude-code.Diff
---@param act fun(session: claude-code.Diff, count: integer)
---@return fun()
local function on_screen(session, act)
  return function()
    if session == shown and not session.outcome then
      act(session, vim.v.count1)
      screen.update(session)
    end
  end
end

---@param session claude-code.Diff
---@return table<claude-code.DiffAction, fun()>
local function actions_on(session)
  return {
    accept = function()
      accept(session)
    end,
    reject = function()
      finish(session, "rejected")
    end,
    next_hunk = on_screen(session, choice.move),
    previous_hunk = on_screen(session, function(_, count)
      choice.move(session, -count)
    end),
    accept_hunk = on_screen(session, choice.accept),
    drop_hunk = on_screen(session, choice.drop),
    merge = on_screen(session, merge.run),
    next_diff = function()
      switch(1)
    end,
    previous_diff = function()
      switch(-1)
    end,
  }
end

---@param session claude-code.Diff
---@return claude-code.DiffDecisions
local function decisions(session)
  return {
    actions = actions_on(session),
    write = function()
      return accept(session, true)
    end,
  }
end

---@param session claude-code.Diff
---@param focused boolean
local function announce(session, focused)
  local told = freshness.tell(session)
  if session.seen then
    return
  end
  session.seen = true
  if not told and not focused then
    local base = path.base(session.new_path)
    notify.info(("a proposed change of %s waits in another window"):format(base))
  end
  emit("DiffOpened", session)
end

---@param session claude-code.Diff
local function show(session)
  shown = session
  local ok, focused = pcall(screen.show, session, decisions(session))
  if not ok then
    shown = nil
    error(focused, 0)
  end
  drop(session)
  announce(session, focused)
end

---Tells why a diff waits; of a short pause in typing that it waits for only once there was none.
---@param session claude-code.Diff
local function tell_of_wait(session)
  local free = blocked.may_change() == "all"
  if session.announced or (free and not session.delayed) then
    session.delayed = free or session.delayed
    return
  end
  session.announced = true
  local base = path.base(session.new_path)
  local condition = free and "you stop typing" or "you are back in normal mode"
  notify.info(("a proposed change of %s waits until %s"):format(base, condition))
end

---@param session claude-code.Diff
local function wait(session)
  tell_of_wait(session)
  local unrest = screen.unrest()
  blocked.retry(go_on, unrest > 0 and unrest or nil)
end

---Shows the next diff if none is on screen and the moment allows it.
---@return string? failure
function advance()
  local session = waiting[1]
  if shown or not session then
    return
  elseif not screen.has_room() then
    return wait(session)
  end
  local ok, message = pcall(show, session)
  if ok then
    return
  elseif blocked.is_textlock_error(message) then
    return wait(session)
  end
  drop(session)
  require("claude-code.messages.log").error("showing a diff failed: %s", message)
  return tostring(message):match("^[^\n]*")
end

---Shows the next diff when nobody waits for the failure: one that cannot be shown is rejected, or
---its client would wait for good, and so would those behind it.
function go_on()
  local session = waiting[1]
  local failure = advance()
  if failure then
    local base = path.base(session.new_path)
    notify.error(("the change of %s was rejected, as it cannot be shown: %s"):format(base, failure))
    finish(session, "rejected")
    go_on()
  end
end

---@param session claude-code.Diff
---@param outcome claude-code.DiffOutcome
local function tell(session, outcome)
  if outcome == "closed" then
    return emit("DiffClosed", session)
  end
  local accepted = outcome == "accepted"
  local result = accepted and session:result() or {}
  if accepted then
    if merge.holds_edits(session) then
      require("claude-code.editor.documents.reload").allow_overwrite(session.target)
    end
    -- First of all: once the answer is out the file may change at any time.
    require("claude-code.editor.documents.watch").start({ path = session.new_path })
  end
  require("claude-code.editor.channel").notify("diff_ended", {
    id = session.id,
    outcome = outcome,
    lines = result.lines,
    newline = result.newline,
  })
  emit(accepted and "DiffAccepted" or "DiffRejected", session)
end

---Ends a diff, whatever its state; a second end does nothing.
---@param session claude-code.Diff
---@param outcome claude-code.DiffOutcome
---@param busy? boolean its windows must wait for what Neovim is doing (a write)
---@return boolean ended by this call
function finish(session, outcome, busy)
  if session.outcome then
    return false
  end
  session.outcome = outcome
  tell(session, outcome)
  if session ~= shown then
    drop(session)
    session:discard()
    return true
  end
  if outcome ~= "closed" and screen.is_inside(session) then
    -- Typed for this diff: the next one need not wait.
    keyboard.reset()
  end
  screen.unwatch(session)
  if busy then
    vim.schedule(leave_screen)
  else
    leave_screen()
  end
  return true
end

---Shows another of those that wait; this one waits again, with what the person made of it.
---@param step 1|-1
---@return boolean done
function switch(step)
  local session = shown
  if not session or session.outcome or #waiting == 0 then
    notify.info("no other proposal waits")
    return false
  elseif not screen.park(session) then
    return false
  end
  shown = nil
  keyboard.reset()
  if step > 0 then
    waiting[#waiting + 1] = session
  else
    table.insert(waiting, 1, session)
    table.insert(waiting, 1, table.remove(waiting))
  end
  go_on()
  return true
end

---@return claude-code.Diff[] all that are open, the one on screen last
local function all()
  local sessions = vim.list_slice(waiting)
  if shown and not shown.outcome then
    sessions[#sessions + 1] = shown
  end
  return sessions
end

---@param id? integer
---@return claude-code.Diff? session the one with this id; without it the one on screen
local function find(id)
  for _, session in ipairs(all()) do
    if session.id == id or (id == nil and session == shown) then
      return session
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
  if #waiting == 0 and not shown then
    series = { total = 0 }
  end
  require("claude-code.editor.channel").on_detach(M.abandon)
  local session = require("claude-code.editor.diff.proposal").new(params)
  series.total = series.total + 1
  session.series, session.number = series, series.total
  waiting[#waiting + 1] = session
  local failure = #waiting == 1 and advance() or nil
  if shown then
    -- It tells how many wait.
    winbar.show(shown)
  end
  if failure then
    return nil, ("cannot show the change of %s: %s"):format(path.base(params.new_path), failure)
  end
  return true
end

---Ends diffs that the executable has answered itself.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  local count = 0
  -- The one on screen comes last, or the others would flash up behind it.
  for _, session in ipairs(all()) do
    if vim.tbl_contains(params.ids, session.id) and finish(session, "closed") then
      count = count + 1
    end
  end
  return count
end

---@param id? integer without it the diff on screen
---@return boolean? done nil if there is none; false if not, and the person was told why
function M.accept(id)
  local session = find(id)
  if session then
    return accept(session)
  end
end

---@param id? integer without it the diff on screen
---@return boolean? done nil if there is none
function M.reject(id)
  local session = find(id)
  if session then
    return finish(session, "rejected")
  end
end

---Does what a key of the diff on screen does.
---@param action claude-code.DiffAction
---@return boolean? done nil if there is none
function M.act(action)
  local session = find()
  if session then
    quiet.wake(session)
    actions_on(session)[action]()
    return true
  end
end

---The executable is gone: nobody waits for an answer any more.
function M.abandon()
  for _, session in ipairs(all()) do
    finish(session, "closed")
  end
end

---@return claude-code.Diff? shown
function M.current()
  return find()
end

---@return integer count of diffs that wait for a person
function M.count()
  return #all()
end

---Neovim ends: the answers go out, and what others save as a session shows the person's windows.
function M.exit()
  for _, session in ipairs(all()) do
    session.outcome = "rejected"
    tell(session, "rejected")
    screen.vanish(session)
  end
end

return M
