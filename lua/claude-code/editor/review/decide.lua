--- Keep and undo: what the user chose, sent to the executable, and carried out.
local api = vim.api
local buffers = require("claude-code.editor.review.buffer")
local listing = require("claude-code.editor.review.listing")
local counted = require("claude-code.lib.text").count
local list = require("claude-code.editor.review.list")
local move = require("claude-code.editor.review.move")
local notify = require("claude-code.messages.notify")
local outcome = require("claude-code.editor.review.outcome")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local requests = require("claude-code.server.requests")
local text = require("claude-code.editor.review.buffer_text")
local turns = require("claude-code.editor.review.turns")
local view = require("claude-code.editor.review.view")

local M = {}

---@class claude-code.ReviewChoice
---@field path string absolute
---@field text? claude-code.ReviewText of a loaded buffer
---@field hunks? string[] ids; without it and `range` the whole file
---@field range? [integer, integer]

---Sends a request with the texts that buffers have now.
---@param method "keep"|"undo"|"back"
---@param callback fun(decision?: claude-code.Decision, problem: string?)
local function request_with_texts(method, params, callback)
  for _, choice in ipairs(params.files) do
    local buf, is_lost = path.loaded_buffer(choice.path), nil
    if buf then
      choice.text, is_lost = text.of(buf)
    end
    if is_lost then
      local words = "%s has unsaved changes: write it (:w!), or load the file (:e!), and try again"
      return callback(nil, words:format(path.title(choice.path)))
    end
  end
  requests.request("review/" .. method, params, callback)
end

---@param is_whole? boolean the files of these entries
local function of_list(first, last, is_whole)
  local choices, by_path = {}, {}
  for _, entry in ipairs(list.entries(first, last)) do
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
---@field count? integer so many hunks of the file, from that under the cursor on
---@field range? [integer, integer] rows of the current buffer, or entries of the quickfix window

local namespace = api.nvim_create_namespace("claude-code.review.asked")

---@return fun(): integer row where that line is now, and the mark is gone
local function follow_row(buf, row)
  local mark = api.nvim_buf_set_extmark(buf, namespace, row - 1, 0, {})
  return function()
    local place = api.nvim_buf_get_extmark_by_id(buf, namespace, mark, {})
    api.nvim_buf_del_extmark(buf, namespace, mark)
    return (place[1] or row - 1) + 1
  end
end

---@alias claude-code.ReviewPick fun(callback: fun(choices?: claude-code.ReviewChoice[])) nil: a message says why

---@return claude-code.ReviewPick
local function picked(choices)
  return function(callback)
    callback(choices)
  end
end

---@return string[] ids of so many hunks, that one first
local function ids_from(hunks, first, count)
  local ids = {}
  for _, hunk in ipairs(hunks) do
    if hunk == first or (#ids > 0 and #ids < count) then
      ids[#ids + 1] = hunk.id
    end
  end
  return ids
end

---The hunk under the cursor. The executable is asked for the hunks unless they are known. What a formatter writes in
---the meantime is no reason to do nothing.
---@param choice claude-code.ReviewChoice gets the hunk
---@param count integer of hunks
local function hunk_here(choice, count)
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  local shown = buffers.attach(buf)
  local known = shown:is_current() and buffers.hunk_at(shown.hunks, row)
  local entry, listed = list.entry_here(), listing.of_buffer(buf)
  local is_mode = entry and entry.hunk == "mode" and listed and listed.mode
  if is_mode or known then
    choice.hunks = is_mode and { "mode" } or ids_from(shown.hunks, known, count)
    return picked({ choice })
  end
  local row_now = follow_row(buf, row)
  local function pick(callback, is_second)
    if not api.nvim_buf_is_loaded(buf) then
      choice.hunks = entry and entry.hunk and { entry.hunk } or nil
      return callback(entry and { choice } or {})
    end
    shown:fetch(function(fetched)
      if fetched.is_old and not is_second then
        return pick(callback, true)
      elseif fetched.problem or fetched.is_old then
        notify.warn(fetched.problem or "the text has changed since then; look again")
        return callback(nil)
      end
      local file = fetched.file
      local hunk = file and buffers.hunk_at(file.hunks, row_now())
      choice.hunks = hunk and ids_from(file.hunks, hunk, count)
      -- A file that was created, or has no text, is decided as a whole.
      local is_whole = file and (#file.hunks == 0 or (not hunk and file.kind ~= "changed"))
      callback((hunk or is_whole) and { choice } or {})
    end)
  end
  return pick
end

---What a target means here and now, whatever happens until its turn comes.
---@return claude-code.ReviewPick
local function choose(target)
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  if list.has_cursor() then
    local range = target.range or { row, row }
    return picked(of_list(range[1], range[2], target.whole))
  end
  local plain = listing.without_hunks(buf)
  local whole = plain and plain.path or listing.base_file(buf)
  local name, entry = whole or path.of_buffer(buf), list.entry_here()
  if not name then
    return picked({})
  elseif entry and vim.uv.fs_readlink(entry.path) then
    -- The buffer is that of the file to which it leads.
    notify.warn(path.title(entry.path) .. " is a symlink: decide in the quickfix window")
    return picked(nil)
  elseif reload.is_stale(buf) then
    local unsaved, title = require("claude-code.editor.documents.unsaved"), path.title(name)
    local words =
      "%s first, or decide in the quickfix window: unsaved edits of %s conflict with Claude's"
    notify.warn(
      unsaved.is_stale(buf) and words:format(unsaved.merge_hint(buf), title)
        or title .. " is about to take over changes on disk: decide again then"
    )
    return picked(nil)
  end
  local choice = { path = whole or path.real(name) }
  if whole or target.whole then
    return picked({ choice })
  elseif target.range then
    local first, last = follow_row(buf, target.range[1]), follow_row(buf, target.range[2])
    return function(callback)
      choice.range = { first(), last() }
      callback({ choice })
    end
  end
  return hunk_here(choice, target.count or 1)
end

---An error (of the user's autocommands, say) must not hold up the decisions that wait for their turn.
local function attempt(work, ...)
  local ok, result = pcall(work, ...)
  if not ok then
    notify.error(tostring(result))
  end
  return ok, result
end

---Lists again, and moves the cursor in an open review, unless the user is elsewhere by then.
---@param over fun()
---@param move_on fun()
local function refresh(over, move_on)
  view.refresh(function()
    if listing.review and turns.is_here() then
      turns.carry(function()
        attempt(move_on)
      end)
    end
    over()
  end)
end

---@return fun(over: fun()) lead_on after a decision that is made here, in a file or in the list
local function from_here(target)
  local place, name = turns.here(), path.of_buffer(0)
  local first, last = unpack(target.range or { place.row, place.row })
  local decided = list.has_cursor() and list.keys(first, last) or nil
  return function(over)
    view.update(api.nvim_get_current_buf())
    refresh(over, function()
      if decided then
        return move.onward_in_list(first, decided)
      end
      move.onward(not api.nvim_buf_is_loaded(place.buf) and name or nil)
    end)
  end
end

---Carries a decision out. One that could be carried out in no file is taken back: it was none.
local function carry_out(decision, callback)
  local ok, is_done
  turns.carry(function()
    ok, is_done = attempt(outcome.run, decision)
  end)
  if not ok or is_done or not decision.decision then
    return callback()
  end
  local files = vim.tbl_map(function(file)
    return { path = file.path }
  end, decision.files)
  request_with_texts("back", { decision = decision.decision, files = files }, callback)
end

---@param done fun(lead_on?: fun(over: fun()))
local function send(method, params, lead_on, done)
  request_with_texts(method, params, function(decision, problem)
    if problem then
      notify.error(problem)
      return done()
    end
    local conflict = outcome.only_conflict(decision)
    if not conflict then
      return carry_out(decision, function()
        done(lead_on)
      end)
    end
    outcome.show_conflict(conflict, function()
      local choices = { { path = decision.files[1].path, hunks = { conflict.hunk } } }
      local more = { files = choices, keep_both = true }
      turns.add(function(over)
        send(method, vim.tbl_extend("force", params, more), lead_on, over)
      end, false)
    end)
    done()
  end)
end

---@param options table more of the request
local function request(method, target, options)
  local scope, follows = listing.scope(), not target.range and turns.follows()
  local pick, lead_on
  if not follows then
    pick, lead_on = choose(target), from_here(target)
  end
  turns.add(function(done)
    pick, lead_on = pick or choose(target), lead_on or from_here(target)
    pick(function(choices)
      if choices and #choices > 0 then
        options.files = choices
        return send(method, vim.tbl_extend("force", options, scope), lead_on, done)
      elseif choices then
        notify.warn("no change of Claude's waits for a review here")
      end
      -- From a file that is not in the review nothing leads on.
      local is_in_review = list.has_cursor() or listing.of_buffer(api.nvim_get_current_buf())
      done(choices and is_in_review and lead_on or nil)
    end)
  end, follows)
end

---@param target claude-code.ReviewTarget
function M.keep(target)
  request("keep", target, {})
end

---@param target claude-code.ReviewTarget
function M.undo(target)
  request("undo", target, { keep_both = target.whole })
end

---Takes the last decision back.
function M.back()
  turns.add(function(done)
    local before = list.keys(1, math.huge)
    requests.request("review/last", {}, function(last, problem)
      if not last then
        notify.warn(problem or "there is no decision to take back")
        return done()
      end
      local files = vim.tbl_map(function(name)
        return { path = name }
      end, last.paths)
      local params = { decision = last.decision, files = files }
      request_with_texts("back", params, function(decision, failure)
        local is_done = decision ~= nil and outcome.run(decision, last.decision)
        if failure then
          notify.error(failure)
        elseif is_done then
          local paths, words = last.paths, last.type == "keep" and "kept" or "undone"
          local where = #paths == 1 and path.title(paths[1]) or counted(#paths, "file")
          notify.info(("took back what was %s in %s"):format(words, where), "review")
        end
        done(function(over)
          refresh(over, function()
            move.to_reopened(is_done and last.paths or {}, before)
          end)
        end)
      end)
    end)
  end, false)
end

---Keeps all that is left.
function M.done()
  local scope = listing.scope()
  turns.add(function(done)
    local params = vim.tbl_extend("force", { texts = listing.unsaved() }, scope)
    requests.request("review/done", params, function(decision, problem)
      if problem then
        notify.error(problem)
        return done()
      end
      outcome.run(decision)
      local said = decision.decision
          and "all of Claude's changes are kept; :Claude back takes that back"
        or "there is nothing left to review"
      local was_open = listing.review ~= nil
      view.refresh(function()
        if not was_open then
          notify.info(listing.unwritten() or said, "review")
        end
      end)
      done()
    end)
  end, false)
end

---@class claude-code.CommitResult
---@field commit? string what git says; nil if the message was not written
---@field notes string[] sentences

---@param result claude-code.CommitResult
local function report_commit(result)
  local nothing = "nothing is committed, since the message was not written"
  notify.info(result.commit and "committed " .. result.commit or nothing)
  for _, note in ipairs(result.notes) do
    notify.warn(note)
  end
end

---Commits what the user has kept in the project of the current file, else in the first one.
---@param with_draft boolean the message begins with the prompts that made it
function M.commit(with_draft)
  local buf = list.lines()
  local name = path.of_buffer(buf) or listing.base_file(buf)
  local texts = listing.unsaved()
  requests.ask("review/commit", { path = name, draft = with_draft, texts = texts }, report_commit)
end

return M
