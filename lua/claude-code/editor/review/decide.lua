--- Decisions: keep, undo, and back. Each is one task: choose, ask, send, carry out, move on. They wait in a queue,
--- since each is about the text that the one before it left: one command may ask for many (`:cdo`, `:g`), and keys may
--- come faster than answers.
local api = vim.api
local buffers = require("claude-code.editor.review.buffer")
local counted = require("claude-code.lib.text").count
local cursor = require("claude-code.editor.review.cursor")
local lists = require("claude-code.editor.review.list")
local notify = require("claude-code.messages.notify")
local outcome = require("claude-code.editor.review.outcome")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local channel = require("claude-code.server.channel")
local reviews = require("claude-code.editor.review.review")
local task = require("claude-code.lib.task")
local text = require("claude-code.editor.review.text")

local M = {}

---@class claude-code.QueuedDecision
---@field run fun()
---@field is_for_next boolean it is about the hunk to which the decision before it moves the cursor

local queue = {} ---@type claude-code.QueuedDecision[] the first one runs

local function run_first()
  if not queue[1] then
    return
  end
  task.run(queue[1].run, function(problem)
    if problem then
      notify.error(notify.refusal(problem) or problem)
    end
    table.remove(queue, 1)
    run_first()
  end)
end

---Runs work in a task, after the decisions before it.
---@param run fun()
---@param is_for_next? boolean
function M.enqueue(run, is_for_next)
  cursor.remember_place()
  table.insert(queue, { run = run, is_for_next = is_for_next or false })
  if #queue == 1 then
    run_first()
  end
end

---@return boolean does a key mean the hunk to which the last decision moves the cursor? Not if the user has moved it.
local function is_for_next()
  return #queue > 0 and not cursor.has_moved()
end

---Moves the cursor now, or after the pending decisions have moved it.
---@param move fun()
function M.move(move)
  if not is_for_next() then
    return move()
  end
  M.enqueue(function()
    if not cursor.has_left() then
      cursor.track(move)
    end
  end, true)
end

---@class claude-code.ReviewChoice
---@field path string absolute
---@field text? claude-code.ReviewText of a loaded buffer
---@field hunks? string[] ids; without it and `range` the whole file
---@field range? [integer, integer]

---Asks the executable, with the current texts of buffers. Runs in a task.
---@return string? problem
local function ask(method, params)
  for _, choice in ipairs(params.files) do
    local buf, is_lost = path.loaded_buffer(choice.path), nil
    if buf then
      choice.text, is_lost = text.of(buf)
    end
    if is_lost then
      local words = "%s has unsaved changes: write it (:w!), or load the file (:e!), and try again"
      return nil, words:format(path.title(choice.path))
    end
  end
  return channel.await("review/" .. method, params)
end

---@param is_whole? boolean the files of these entries
local function choices_in_list(list, first, last, is_whole)
  local choices, by_path = {}, {}
  for _, entry in ipairs(list:entries(first, last)) do
    local choice = by_path[entry.path]
    if not choice then
      choice = { path = entry.path, hunks = {} }
      by_path[entry.path], choices[#choices + 1] = choice, choice
    end
    if is_whole or not entry.hunk then
      choice.hunks = nil
    elseif choice.hunks then
      table.insert(choice.hunks, entry.hunk)
    end
  end
  return choices
end

---@class claude-code.ReviewTarget what a command or key is about
---@field whole? boolean the whole file
---@field count? integer hunks of the file, starting with the one under the cursor
---@field range? [integer, integer] rows of the current buffer, or entries of the quickfix window

---@class claude-code.ReviewSubject a target, fixed where the user is: later moves and edits do not change it
---@field choices claude-code.ReviewChoice[] empty: Claude changed nothing there
---@field buf integer where the user was
---@field name? string path of its file
---@field first? integer row of the first entry, in the list
---@field decided? table<string, true> keys of the entries
---@field ends? (fun(): integer)[] give the first and the last row of a range
---@field row? fun(): integer gives the row of the hunk, which is still unknown
---@field entry? claude-code.ReviewEntry
---@field count? integer of hunks

local namespace = api.nvim_create_namespace("claude-code.review.asked")

---@return fun(): integer row where that line is now; removes the mark
local function follow_row(buf, row)
  local mark = api.nvim_buf_set_extmark(buf, namespace, row - 1, 0, {})
  return function()
    local place = api.nvim_buf_get_extmark_by_id(buf, namespace, mark, {})
    api.nvim_buf_del_extmark(buf, namespace, mark)
    return (place[1] or row - 1) + 1
  end
end

---Ids of `count` hunks, starting with the one at the row.
local function ids_from(hunks, row, count)
  local first = buffers.hunk_at(hunks, row) and buffers.index_at(hunks, row)
  return first
    and vim.tbl_map(function(hunk)
      return hunk.id
    end, vim.list_slice(hunks, first, math.min(first + count - 1, #hunks)))
end

---@return claude-code.ReviewSubject? nil: a message says why
function M.subject_of(target)
  local review = reviews.current()
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  ---@type claude-code.ReviewSubject
  local subject = { choices = {}, buf = buf, name = path.of_buffer(buf), count = target.count or 1 }
  if review.list:has_cursor() then
    local first, last = unpack(target.range or { row, row })
    local fold, fold_end = vim.fn.foldclosed(first), vim.fn.foldclosedend(last)
    first, last = fold > 0 and fold or first, math.max(fold_end, last)
    subject.first, subject.decided = first, review.list:keys(first, last)
    subject.choices = choices_in_list(review.list, first, last, target.whole)
    return subject
  end
  local plain = buffers.file_without_hunks(review, buf)
  local whole = plain and plain.path or buffers.base_file(buf)
  local name, entry = whole or subject.name, lists.entry_here()
  if not name then
    return subject
  elseif entry and vim.uv.fs_readlink(entry.path) then
    -- The buffer shows the target of the symlink.
    notify.warn(path.title(entry.path) .. " is a symlink: decide in the quickfix window")
    return nil
  elseif reload.is_stale(buf) then
    local unsaved, title = require("claude-code.editor.documents.unsaved"), path.title(name)
    local words =
      "%s first, or decide in the quickfix window: unsaved edits of %s conflict with Claude's"
    notify.warn(
      unsaved.is_stale(buf) and words:format(unsaved.merge_hint(buf), title)
        or title .. " is about to take over changes on disk: decide again then"
    )
    return nil
  end
  local choice = { path = whole or path.real(name) }
  subject.choices = { choice }
  if whole or target.whole then
    return subject
  elseif target.range then
    subject.ends = { follow_row(buf, target.range[1]), follow_row(buf, target.range[2]) }
    return subject
  end
  local shown, listed = buffers.attach(buf), review:file_of(buf)
  if entry and entry.hunk == "mode" and listed and listed.mode then
    choice.hunks = { "mode" }
  elseif shown:is_current(review) then
    choice.hunks = ids_from(shown.hunks, row, subject.count)
  end
  if not choice.hunks then
    subject.entry, subject.row = entry, follow_row(buf, row)
  end
  return subject
end

---Asks for the hunk at the subject's row, if it has one. Asks again if a formatter changes the text while we wait.
---@param subject? claude-code.ReviewSubject
---@return claude-code.ReviewChoice[]? nil: a message says why
function M.choices_of(subject)
  if not subject or not subject.row then
    return subject and subject.choices
  end
  local buf, choice, entry = subject.buf, subject.choices[1], subject.entry
  for attempt = 1, 2 do
    if not api.nvim_buf_is_loaded(buf) then
      choice.hunks = entry and entry.hunk and { entry.hunk } or nil
      return entry and { choice } or {}
    end
    local file, problem, is_old = buffers.attach(buf):fetch(reviews.current())
    if problem or is_old and attempt == 2 then
      notify.warn(problem or "the text has changed since then; look again")
      return nil
    elseif not is_old then
      choice.hunks = file and ids_from(file.hunks, subject.row(), subject.count)
      -- A created file, or one without text, is decided as a whole.
      local is_whole = file and (#file.hunks == 0 or file.kind ~= "changed")
      return (choice.hunks or is_whole) and { choice } or {}
    end
  end
end

---Updates the list, and moves the cursor in an open review unless the user has left. Of the decisions of one command,
---only the last one moves it.
---@param move_cursor fun(review: claude-code.Review)
local function move_on(move_cursor)
  if queue[2] and not queue[2].is_for_next then
    return
  end
  reviews.current():refresh()
  local review = reviews.current()
  if review.is_open and not cursor.has_left() then
    cursor.track(function()
      move_cursor(review)
    end)
  end
end

local function move_on_from(subject)
  reviews.update(api.nvim_get_current_buf())
  move_on(function(review)
    if subject.decided then
      return cursor.to_next_entry(review, subject.first, subject.decided)
    end
    cursor.to_next(review, not api.nvim_buf_is_loaded(subject.buf) and subject.name or nil)
  end)
end

---Sends a decision, carries it out, and moves on. Takes it back if no file could carry it out. Runs in the queue.
---@param method "keep"|"undo"
---@param params { files: claude-code.ReviewChoice[] } with the scope
---@return claude-code.Decision? nil if it failed, or if the user is asked about a conflict
function M.send(method, params, subject)
  local decision, problem = ask(method, params)
  if not decision then
    return notify.error(problem)
  elseif decision.changed then
    return decision
  end
  local conflict = outcome.only_conflict(decision)
  if conflict then
    -- A task of its own: the queue does not wait for the user.
    return task.run(function()
      if outcome.confirm(conflict) then
        params.files = { { path = decision.files[1].path, hunks = { conflict.hunk } } }
        params.keep_both, params.plan = true, nil
        M.enqueue(function()
          M.send(method, params, subject)
        end)
      end
    end)
  end
  local is_done = cursor.track(function()
    return outcome.run(decision)
  end)
  if is_done == false and decision.decision then
    local files = vim.tbl_map(function(file)
      return { path = file.path }
    end, decision.files)
    ask("back", { decision = decision.decision, files = files })
    decision.decision = nil
  end
  move_on_from(subject)
  return decision
end

---@param method "keep"|"undo"
function M.decide(method, target)
  local scope, waits = reviews.current().scope, not target.range and is_for_next()
  local subject = not waits and M.subject_of(target)
  M.enqueue(function()
    if waits and cursor.has_left() then
      return notify.warn("the last key decided nothing: you left its file before its turn came")
    end
    subject = subject or waits and M.subject_of(target)
    if subject and subject.ends then
      subject.choices[1].range = { subject.ends[1](), subject.ends[2]() }
    end
    local choices = M.choices_of(subject)
    if not choices then
      return
    elseif #choices > 0 then
      -- Undoing a whole file leaves the lines that the user has edited.
      local keep_both = method == "undo" and target.whole or nil
      local params = { files = choices, keep_both = keep_both }
      return M.send(method, vim.tbl_extend("force", params, scope), subject)
    end
    notify.warn("no change by Claude is waiting for review here")
    -- The cursor stays in a file that is not in the review.
    local review = reviews.current()
    if review.list:has_cursor() or review:file_of(api.nvim_get_current_buf()) then
      move_on_from(subject)
    end
  end, waits)
end

function M.back()
  M.enqueue(function()
    local before = reviews.current().list.rows
    local last, problem = channel.await("review/last", {})
    if not last then
      return notify.warn(problem or "there is no decision to take back")
    end
    local files = vim.tbl_map(function(name)
      return { path = name }
    end, last.paths)
    local decision, failure = ask("back", { decision = last.decision, files = files })
    local is_done = decision ~= nil and outcome.run(decision, last.decision)
    if failure then
      notify.error(failure)
    end
    move_on(function(review)
      cursor.to_reopened(review, is_done and last.paths or {}, before)
    end)
    if is_done then
      -- The list has one entry for both names of a renamed file.
      local listed, earlier = reviews.current().by_path, {}
      for _, name in ipairs(last.paths) do
        earlier[listed[name] and listed[name].from or ""] = true
      end
      local names = vim.tbl_filter(function(name)
        return not earlier[name]
      end, last.paths)
      local where = #names == 1 and path.title(names[1]) or counted(#names, "file")
      local words = "took back what was %s in %s"
      notify.info(words:format(last.type == "keep" and "kept" or "undone", where), "review")
    end
  end)
end

---Keeps everything that is left.
function M.done()
  local scope = reviews.current().scope
  M.enqueue(function()
    local params = vim.tbl_extend("force", { texts = text.unsaved() }, scope)
    local decision, problem = channel.await("review/done", params)
    if not decision then
      return notify.error(problem)
    end
    outcome.run(decision)
    local review = reviews.current()
    local was_open = review.is_open
    review:refresh()
    if not was_open then
      local said = decision.decision
          and "all of Claude's changes are kept; :Claude back takes that back"
        or "there is nothing left to review"
      notify.info(review:unwritten() or said, "review")
    end
  end)
end

---Commits what the user has kept in the project of the current file, or else in the first one.
---@param with_draft boolean the message begins with the prompts that led to the changes
function M.commit(with_draft)
  local buf = reviews.current().list:lines()
  local name = path.of_buffer(buf) or buffers.base_file(buf)
  local params = { path = name, draft = with_draft, texts = text.unsaved() }
  channel.ask("review/commit", params, function(result)
    local nothing = "nothing is committed, since the message was not written"
    notify.info(result.commit and "committed " .. result.commit or nothing)
    vim.iter(result.notes):each(notify.warn)
  end)
end

return M
