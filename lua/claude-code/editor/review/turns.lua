--- A turn of Claude as a scope: decisions about all of it, its changes alone, and the files as they were before it.
local api = vim.api
local buffers = require("claude-code.editor.review.buffer")
local channel = require("claude-code.server.channel")
local decide = require("claude-code.editor.review.decide")
local entries = require("claude-code.editor.review.entries")
local notify = require("claude-code.messages.notify")
local reviews = require("claude-code.editor.review.review")
local sessions = require("claude-code.sessions")
local task = require("claude-code.lib.task")
local text = require("claude-code.editor.review.text")

local M = {}

---How long a turn may take to stop, in ms.
local STOP_MS = 10000

---@alias claude-code.WantedTurn { session?: string, turn?: integer, at?: integer } its number, or the time of its
--- prompt, in ms since the epoch; by default the last turn of the session with the last prompt

---@param wanted claude-code.WantedTurn
---@param done fun(scope: claude-code.ReviewScope) in a task; a message says why it is not called
function M.find(wanted, done)
  task.run(function()
    local scope, problem = channel.await("review/turn", wanted)
    if not scope then
      return notify.error(problem)
    end
    done(scope)
  end)
end

---@return string name of the turn, and of its session if this Neovim did not choose that
local function full_name(scope)
  return scope.of and ("%s of %s"):format(scope.name, scope.of) or scope.name
end

---@class claude-code.TurnPlan
---@field files claude-code.ReviewChoice[]
---@field plan string[] versions
---@field last? integer number of the last turn
---@field question string

---@return claude-code.TurnPlan? nil: a message says why
local function plan_of(scope)
  local more = { texts = text.unsaved(), name = full_name(scope) }
  local params = vim.tbl_extend("force", scope, more)
  local plan, problem = channel.await("review/plan", params)
  if problem then
    notify.warn(problem)
  end
  return plan
end

local DONE = { keep = "kept", undo = "undid", restore = "restored the files as before" }

---Decides about all changes in a scope.
---@param method "keep"|"undo"|"restore"
---@param on_conflicts fun(scope: claude-code.ReviewScope) with the user's edits, or Claude's outside of the scope
---@param agreed? claude-code.TurnPlan to which the user has agreed
---@param again? fun() called if something has changed since
---@param done? fun() not called if it failed, or if the user is asked about the only change
function M.decide(method, scope, on_conflicts, agreed, again, done)
  decide.enqueue(function()
    local plan, row = agreed or plan_of(scope), api.nvim_win_get_cursor(0)[1]
    if not plan then
      return
    end
    local params = vim.tbl_extend("force", { files = plan.files, plan = plan.plan }, scope)
    local subject = { buf = api.nvim_get_current_buf(), choices = {}, first = row, decided = {} }
    local decision = decide.send(method == "keep" and "keep" or "undo", params, subject)
    if not decision then
      return
    elseif decision.changed then
      notify.warn("Claude has gone on, or a file has changed: nothing is decided yet")
      return again and again()
    elseif decision.decision then
      local words = "%s %s; :Claude back takes that back"
      notify.info(words:format(DONE[method], full_name(scope)), "review")
    end
    for _, file in ipairs(decision.files) do
      if file.conflicts and #file.conflicts > 0 then
        on_conflicts(scope)
        break
      end
    end
    if done then
      done()
    end
  end)
end

---@return integer? index of the answer
local function ask(question, answers)
  local _, index = task.await(function(done)
    vim.ui.select(answers, { prompt = question }, done)
  end)
  return index
end

---Lets the user stop the turn that runs. Runs in a task.
---@param row claude-code.SessionRow
---@return boolean stopped
local function stop(row)
  if not row.buf then
    notify.warn("Claude works: stop its turn with Esc, and restore the files then")
    return false
  elseif ask("Claude works.", { "Stop its turn, and go on", "Change nothing" }) ~= 1 then
    return false
  end
  -- The mod would stop the turn, but not its command (2.1.332).
  api.nvim_chan_send(vim.bo[row.buf].channel, "\27")
  return true
end

---Types it into an empty box only: after a draft it would be no command. Runs in a task.
local function type_rewind(n)
  local running = require("claude-code.terminal.running")
  running.focus(n)
  local _, draft = task.await(function(done)
    require("claude-code.sessions.mod").draft(n, done)
  end)
  if not (draft and draft.text == "" and running.paste(n, "/rewind", false)) then
    notify.info("type /rewind in Claude's prompt to choose what it forgets")
  end
end

---Restores the files as they were before a turn, as one decision, once the user has agreed.
---@param wanted claude-code.WantedTurn
---@param on_conflicts fun(scope: claude-code.ReviewScope)
function M.restore(wanted, on_conflicts)
  M.find(wanted, function(scope)
    local row = sessions.get({ id = scope.session }) or {}
    if scope.works and not stop(row) then
      return
    end
    local function is_over()
      local now = channel.await("review/turn", { turn = scope.turn, session = scope.session })
      return now and not now.works and not now.compares
    end
    if not task.wait_for(is_over, STOP_MS) then
      return notify.warn("Claude still works: nothing was restored")
    end
    scope.scope = "since"
    local plan = plan_of(scope)
    local both = row.n and "Restore the files, and choose in Claude's /rewind what it forgets"
    local answers = { "Restore the files", "Change nothing", both }
    local answer = plan and ask(plan.question, answers)
    if answer ~= 1 and answer ~= 3 then
      return
    end
    local function ask_again()
      M.restore({ turn = scope.turn, session = scope.session }, on_conflicts)
    end
    scope.last = plan.last
    M.decide("restore", scope, on_conflicts, plan, ask_again, answer == 3 and function()
      type_rewind(row.n)
    end or nil)
  end)
end

---Reviews the turn of the change under the cursor alone, or what was reviewed before.
function M.toggle()
  local review, row = reviews.current(), api.nvim_win_get_cursor(0)[1]
  local buf, entry = api.nvim_get_current_buf(), review.list:has_cursor() and review.list:entry(row)
  local hunk = buffers.hunk_at(buffers.hunks(buf), row) or {}
  local name = buffers.base_file(buf) or (review:file_of(buf) or {}).path
  local at = entry or { path = name, hunk = hunk.id }
  local file = review.by_path[at.path or ""]
  local owner = file and entries.owner_of(file, at.hunk)
  local function open(scope)
    reviews.open(scope, not entry, review.keys, review.runs, at)
  end
  if review.scope.before then
    open(review.scope.before)
  elseif not (owner and owner.turn) then
    notify.warn("the turn of this change is not known")
  else
    M.find({ turn = owner.turn, session = owner.session }, function(scope)
      scope.before = review.scope
      open(scope)
    end)
  end
end

return M
