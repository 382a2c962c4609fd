--- Keep and undo: what the user chose, sent to the executable, and carried out.
local api = vim.api
local base = require("claude-code.editor.review.base")
local buffers = require("claude-code.editor.review.buffer")
local client = require("claude-code.editor.review.client")
local listing = require("claude-code.editor.review.listing")
local list = require("claude-code.editor.review.list")
local move = require("claude-code.editor.review.move")
local notify = require("claude-code.messages.notify")
local outcome = require("claude-code.editor.review.outcome")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local text = require("claude-code.editor.review.buffer_bytes")
local view = require("claude-code.editor.review.view")

local M = {}

---@class claude-code.ReviewChoice
---@field path string absolute
---@field text? claude-code.ReviewText of a loaded buffer
---@field hunks? string[] ids; without it and `range` the whole file
---@field range? [integer, integer]

---@param choices claude-code.ReviewChoice[]
---@return claude-code.ReviewChoice[] the same, with the texts of buffers: to be sent at once
local function with_texts(choices)
  for _, choice in ipairs(choices) do
    local buf = path.loaded_buffer(choice.path)
    choice.text = buf and text.of(buf)
  end
  return choices
end

---@param first integer
---@param last integer
---@param is_whole? boolean the files of these entries
---@return claude-code.ReviewChoice[]
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
---@field range? [integer, integer] rows of the current buffer, or entries of the quickfix window

---The hunk under the cursor, looked up in the text as it is now: the executable is asked for its hunks unless
---they are known. What a formatter writes in the meantime is no reason to do nothing.
---@param choice claude-code.ReviewChoice gets the hunk
---@param callback fun(choices: claude-code.ReviewChoice[])
---@param is_second? boolean the text has changed while it was asked for the first time
local function choose_hunk(choice, callback, is_second)
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local row, shown = api.nvim_win_get_cursor(win)[1], buffers.attach(buf)
  local known = shown:is_current() and buffers.hunk_at(shown.hunks, row)
  if known then
    choice.hunks = { known.id }
    return callback({ choice })
  end
  shown:fetch(function(fetched)
    if fetched.problem then
      return notify.error(fetched.problem)
    elseif fetched.is_old then
      local is_here = api.nvim_get_current_win() == win and api.nvim_get_current_buf() == buf
      if is_here and not is_second then
        return choose_hunk(choice, callback, true)
      end
      return notify.warn("the text has changed in the meantime; look at it again")
    end
    local file = fetched.file
    local hunk = file and buffers.hunk_at(file.hunks, row)
    choice.hunks = hunk and { hunk.id }
    -- A file that was created, or has no text, is decided as a whole.
    local is_whole = file and (#file.hunks == 0 or (not hunk and file.kind ~= "changed"))
    callback((hunk or is_whole) and { choice } or {})
  end)
end

---@param target claude-code.ReviewTarget
---@param callback fun(choices: claude-code.ReviewChoice[])
local function choose(target, callback)
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  if list.has_cursor() then
    local range = target.range or { row, row }
    return callback(of_list(range[1], range[2], target.whole))
  end
  local plain = listing.without_hunks(buf)
  local whole = plain and plain.path or base.file_of(buf)
  local name = whole or path.of_buffer(buf)
  if not name then
    return callback({})
  elseif reload.is_stale(buf) then
    local words = "%s has unsaved edits of an older text than Claude changed: decide in the quickfix "
      .. "window, or write the buffer (:w!) or load the file (:e!) first"
    return notify.warn(words:format(path.title(name)))
  end
  local choice = { path = whole or path.real(name) }
  if whole or target.whole then
    return callback({ choice })
  elseif target.range then
    choice.range = target.range
    return callback({ choice })
  end
  choose_hunk(choice, callback)
end

---@return fun() advance after a decision that is made here, in a file or in the list, unless the user
--- is elsewhere by then
local function from_here()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  local name = path.of_buffer(buf)
  -- A file that was removed gave its window to another buffer.
  local function is_gone()
    return not api.nvim_buf_is_loaded(buf)
  end
  local function is_here()
    return api.nvim_get_current_win() == win and (is_gone() or api.nvim_get_current_buf() == buf)
  end
  return function()
    view.update(api.nvim_get_current_buf())
    view.refresh(function()
      if listing.review() and is_here() and not list.has_cursor() then
        move.onward(is_gone() and name or nil)
      end
    end)
  end
end

---@param method "keep"|"undo"
---@param params table
---@param advance fun() once it is carried out
local function send(method, params, advance)
  client.ask(method, params, function(decision)
    local conflict = outcome.only_conflict(decision)
    if conflict then
      outcome.show_conflict(conflict, function()
        local choices = with_texts({ { path = decision.files[1].path, hunks = { conflict.hunk } } })
        local more = { files = choices, keep_both = true }
        send(method, vim.tbl_extend("force", params, more), advance)
      end)
    else
      outcome.run(decision)
      advance()
    end
  end)
end

---@param method "keep"|"undo"
---@param target claude-code.ReviewTarget
---@param options table more of the request
local function request(method, target, options)
  local scope, advance = listing.scope(), from_here()
  choose(target, function(choices)
    if #choices == 0 then
      return notify.warn("there is no change of Claude's here that waits for a review")
    end
    options.files = with_texts(choices)
    send(method, vim.tbl_extend("force", options, scope), advance)
  end)
end

---@param target claude-code.ReviewTarget
function M.keep(target)
  request("keep", target, {})
end

---@param target claude-code.ReviewTarget
function M.undo(target)
  local while_working = require("claude-code.config").get().review.undo_while_working
  request("undo", target, { while_working = while_working, keep_both = target.whole })
end

---@param paths string[]
---@return claude-code.ReviewChoice[]
local function texts_of(paths)
  return with_texts(vim.tbl_map(function(name)
    return { path = name }
  end, paths))
end

---@param paths string[]
---@return string
local function named(paths)
  return #paths == 1 and path.title(paths[1]) or ("%d files"):format(#paths)
end

---Takes the last decision back.
function M.back()
  client.ask("last", {}, function(last)
    if not last then
      return notify.warn("there is no decision to take back")
    end
    local params = { decision = last.decision, files = texts_of(last.paths) }
    client.ask("back", params, function(decision)
      outcome.run(decision)
      local words = last.type == "keep" and "kept" or "undone"
      local message = "what was %s in %s waits for a review again"
      notify.info(message:format(words, named(last.paths)), "review")
      view.refresh()
    end)
  end)
end

---@type table<string, string> by the ids of undos that waited and failed: what was said about it
local failed = {}

---@param due claude-code.DueUndo
---@param problem string
local function report_failure(due, problem)
  -- The executable may list it again and again: whenever something is recorded.
  if failed[due.decision] ~= problem then
    failed[due.decision] = problem
    local words = "%s could not be undone at the end of Claude's turn: %s"
    notify.error(words:format(named(due.paths), problem))
  end
end

---Carries out an undo that waited for the end of Claude's turn. One that fails says so once.
---@param due claude-code.DueUndo
function M.carry_out(due)
  local params = { files = texts_of(due.paths), queued = due.decision, while_working = "now" }
  client.request("undo", params, function(decision, problem)
    if problem then
      return report_failure(due, problem)
    end
    failed[due.decision] = nil
    notify.info("undone at the end of Claude's turn: " .. named(due.paths), "review")
    outcome.run(decision)
    for _, name in ipairs(due.paths) do
      local buf = path.loaded_buffer(name)
      if buf then
        view.update(buf)
      end
    end
  end)
end

---Keeps all that is left.
function M.done()
  local params = vim.tbl_extend("force", { texts = listing.unsaved() }, listing.scope())
  client.ask("done", params, function(decision)
    outcome.run(decision)
    if not listing.review() then
      local kept = "all of Claude's changes are kept; :Claude back takes that back"
      local is_decided = decision.decision ~= nil
      notify.info(is_decided and kept or "there is nothing left to review", "review")
    end
    view.refresh()
  end)
end

return M
