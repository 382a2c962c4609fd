--- A turn of Claude as a scope: decisions about all of it, and its changes alone.
local api = vim.api
local buffers = require("claude-code.editor.review.buffer")
local channel = require("claude-code.server.channel")
local counted = require("claude-code.lib.text").count
local decide = require("claude-code.editor.review.decide")
local entries = require("claude-code.editor.review.entries")
local notify = require("claude-code.messages.notify")
local reviews = require("claude-code.editor.review.review")
local task = require("claude-code.lib.task")
local text = require("claude-code.editor.review.text")

local M = {}

---@class claude-code.Turn
---@field number integer in its session, from 1
---@field text string the prompt
---@field at integer ms since the epoch

---@class claude-code.Turns
---@field session string
---@field turns claude-code.Turn[] by number
---@field runs boolean Claude works

---Runs in a task.
---@param number? integer the last turn if left out
---@param session? string the one with the last prompt if left out
---@return claude-code.ReviewScope? nil: a message says why
local function find(number, session)
  local found, problem = channel.await("review/turns", { session = session })
  local turns = found and found.turns or {}
  local turn = turns[number or #turns]
  if problem or number and not turn then
    local known = #turns > 0 and ("it has turns 1 to %d"):format(#turns) or "no prompt is recorded"
    notify.error(problem or ("this session has no turn %d: %s"):format(number, known))
    return nil
  end
  turn, found = turn or {}, found or {}
  session = found.session or session
  return { scope = "turn", session = session, turn = turn.number, prompt = turn.text }
end

---@return string "turn 2 ‹rename it›"
local function name_of(scope)
  return scope.turn and entries.turn_words(scope.turn, scope.prompt) or "the last turn"
end

---@param done fun(scope: claude-code.ReviewScope) a message says why it is not called
function M.find(number, session, done)
  task.run(function()
    local scope = find(number, session)
    if scope then
      done(scope)
    end
  end)
end

local DONE = { keep = "kept", undo = "undid" }

---Decides about all changes in a scope.
---@param method "keep"|"undo"
---@param done string the past tense, for a message
---@param on_conflicts fun(scope: claude-code.ReviewScope)
local function decide_all(method, scope, done, on_conflicts)
  decide.enqueue(function()
    local params = vim.tbl_extend("force", { texts = text.unsaved() }, scope)
    local plan, problem = channel.await("review/plan", params)
    if not plan or #plan.paths == 0 then
      return notify.warn(problem or ("nothing of %s is left to %s"):format(name_of(scope), method))
    end
    local files = vim.tbl_map(function(name)
      return { path = name }
    end, plan.paths)
    params = vim.tbl_extend("force", { files = files }, scope)
    local row = api.nvim_win_get_cursor(0)[1]
    local subject = { buf = api.nvim_get_current_buf(), choices = files, first = row, decided = {} }
    local decision = decide.send(method, params, subject)
    if not decision then
      return
    end
    local changed, conflicts = 0, 0
    for _, file in ipairs(decision.files) do
      changed = changed + (file.problem and 0 or 1)
      conflicts = conflicts + #(file.conflicts or {})
    end
    if decision.decision then
      local words = "%s %s in %s; :Claude back takes that back"
      notify.info(words:format(done, name_of(scope), counted(changed, "file")), "review")
    end
    if conflicts > 0 then
      on_conflicts(scope)
    end
  end)
end

---@param method "keep"|"undo"
---@param on_conflicts fun(scope: claude-code.ReviewScope)
function M.decide(method, number, session, on_conflicts)
  M.find(number, session, function(scope)
    decide_all(method, scope, DONE[method], on_conflicts)
  end)
end

local alone ---@type { scope: claude-code.ReviewScope, before: claude-code.ReviewScope }?

---Reviews the turn of the change under the cursor alone, or what was reviewed before.
function M.toggle()
  local review, row = reviews.current(), api.nvim_win_get_cursor(0)[1]
  local buf, is_list = api.nvim_get_current_buf(), review.list:has_cursor()
  local entry = is_list and review.list:entry(row) or nil
  local name = entry and entry.path or buffers.base_file(buf)
  local file = name and review.by_path[name] or review:file_of(buf)
  local hunk = buffers.hunk_at(buffers.hunks(buf), row)
  local at = file and { path = file.path, hunk = entry and entry.hunk or hunk and hunk.id }
  local owner = file and entries.owner_of(file, at.hunk)
  local scope = alone and alone.scope == review.scope and alone.before
  if not scope and not (owner and owner.turn) then
    return notify.warn("the turn of this change is not known")
  elseif not scope then
    scope = { scope = "turn", session = owner.session, turn = owner.turn, prompt = owner.prompt }
    alone = { scope = scope, before = review.scope }
  end
  reviews.reopen(scope, not is_list, at)
end

return M
