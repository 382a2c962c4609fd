--- Single hunks: moving between them, accepting and dropping them.
---
--- A dropped hunk is the old file's lines put back into the proposal, as an edit that `u` undoes.
--- An accepted one carries a mark. Once a hunk is accepted by itself, accepting the diff takes the
--- accepted hunks only: the others are dropped at that moment.
local api = vim.api
local highlights = require("claude-code.editor.diff.highlights")
local hunks = require("claude-code.editor.diff.hunks")
local say = require("claude-code.editor.say")

---Lines missing at the end have a namespace of their own: the line they belong to may stand for the
---lines missing above it, too.
local MIDDLE = api.nvim_create_namespace("claude-code.diff.choice")
local TAIL = api.nvim_create_namespace("claude-code.diff.choice.tail")

local M = {}

---Where the person looks at the diff: the current window, else the one with the proposal.
---@param session claude-code.Diff
---@return integer win
---@return "old"|"new" side
local function viewed(session)
  local win = api.nvim_get_current_win()
  if not vim.tbl_contains(session.place.windows, win) then
    win = session.place.focus
  end
  local side = api.nvim_win_get_buf(win) == session.old_buf and "old" or "new"
  return win, side
end

---@class claude-code.Stand where the person was brought; of two hunks on a line it tells which
---@field index integer
---@field tick integer changedtick of the proposal
---@field win integer
---@field line integer

---@param session claude-code.Diff
---@param win integer
---@param line integer
---@return integer? index
local function stood_on(session, win, line)
  local stand = session.stand
  local valid = stand
    and stand.win == win
    and stand.line == line
    and stand.tick == api.nvim_buf_get_changedtick(session.new_buf)
  return valid and stand.index or nil
end

---@param session claude-code.Diff
---@param list? claude-code.Hunk[] those that there are now, unless others are meant
---@return integer? index of the hunk under the cursor
---@return integer nearest index of the last one at or above the cursor, 0 if there is none
function M.current(session, list)
  local win, side = viewed(session)
  list = list or hunks.of(session).list
  local line = api.nvim_win_get_cursor(win)[1]
  local count = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  local index = stood_on(session, win, line) or hunks.at(list, side, line, count)
  return index, index or hunks.before(list, side, line)
end

---@param session claude-code.Diff
---@param index integer
local function go_to(session, index)
  local win, side = viewed(session)
  local line = hunks.span(hunks.of(session).list[index], side)
  local count = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  api.nvim_win_call(win, function()
    vim.cmd("normal! m'")
  end)
  line = math.min(line, count)
  api.nvim_win_set_cursor(win, { line, 0 })
  local tick = api.nvim_buf_get_changedtick(session.new_buf)
  session.stand = { index = index, tick = tick, win = win, line = line }
  if session.place.layout.reveal then
    session.place.layout.reveal(session)
  end
end

---@param session claude-code.Diff
---@param steps integer negative: upwards
function M.move(session, steps)
  local list = hunks.of(session).list
  local index, nearest = M.current(session)
  local from = steps < 0 and not index and nearest + 1 or nearest
  local to = math.max(1, math.min(#list, from + steps))
  if #list == 0 or (to == index and #list > 0) then
    say.info(#list == 0 and "nothing differs" or steps > 0 and "the last hunk" or "the first hunk")
    return
  end
  go_to(session, to)
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
---@return integer namespace of the marks that belong to it
---@return integer first 0-based row of those marks
---@return integer last
local function place_of(session, hunk)
  local first, last = hunks.span(hunk, "new")
  local count = api.nvim_buf_line_count(session.new_buf)
  if first > count then
    return TAIL, count - 1, count - 1
  end
  return MIDDLE, first - 1, last - 1
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
---@return integer? mark id
---@return integer namespace
local function mark_of(session, hunk)
  local namespace, first, last = place_of(session, hunk)
  local range = { { first, 0 }, { last, -1 } }
  local found =
    api.nvim_buf_get_extmarks(session.new_buf, namespace, range[1], range[2], { limit = 1 })
  return found[1] and found[1][1], namespace
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
---@return boolean there was one
local function unmark(session, hunk)
  local mark, namespace = mark_of(session, hunk)
  return mark ~= nil and api.nvim_buf_del_extmark(session.new_buf, namespace, mark)
end

---@param session claude-code.Diff
---@param namespace integer
---@return boolean
local function has_marks(session, namespace)
  return #api.nvim_buf_get_extmarks(session.new_buf, namespace, 0, -1, { limit = 1 }) > 0
end

---@param session claude-code.Diff
---@return integer count of hunks accepted by themselves
function M.accepted(session)
  if not has_marks(session, MIDDLE) and not has_marks(session, TAIL) then
    return 0
  end
  return vim.iter(hunks.of(session).list):fold(0, function(count, hunk)
    return count + (mark_of(session, hunk) and 1 or 0)
  end)
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
local function put_back(session, hunk)
  local buf = session.new_buf
  local lines = vim.list_slice(session.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
  local first = hunk.new_count == 0 and hunk.new or hunk.new - 1
  local last = first + hunk.new_count
  if hunk.new_count == 0 and hunk.new == 0 and api.nvim_buf_line_count(buf) == 1 then
    -- A proposal without any text has a line in its buffer all the same.
    last = api.nvim_buf_get_lines(buf, 0, 1, false)[1] == "" and 1 or last
  end
  api.nvim_buf_set_lines(buf, first, last, false, lines)
end

---What follows can be undone by itself.
---@param buf integer
local function close_undo_block(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---@param session claude-code.Diff
---@return integer? index
local function chosen(session)
  local index = M.current(session)
  if not index then
    say.info("no hunk under the cursor")
  end
  return index
end

---Puts the old lines back in place of the hunk under the cursor.
---@param session claude-code.Diff
function M.drop(session)
  local index = chosen(session)
  if not index then
    return
  end
  local hunk = hunks.of(session).list[index]
  unmark(session, hunk)
  close_undo_block(session.new_buf)
  put_back(session, hunk)
  if hunks.of(session).list[index] then
    go_to(session, index)
  end
end

---Accepts the hunk under the cursor, or no longer if it was.
---@param session claude-code.Diff
function M.accept(session)
  local index = chosen(session)
  if not index then
    return
  end
  local list = hunks.of(session).list
  if unmark(session, list[index]) then
    return
  end
  local namespace, row = place_of(session, list[index])
  api.nvim_buf_set_extmark(session.new_buf, namespace, row, 0, {
    virt_text = { { " ✓ accepted ", highlights.name("Accepted") } },
    virt_text_pos = "right_align",
  })
  if list[index + 1] then
    go_to(session, index + 1)
  end
end

---Drops what was not accepted, if any hunk was accepted by itself.
---@param session claude-code.Diff
function M.settle(session)
  if M.accepted(session) == 0 then
    return
  end
  local rest = vim.tbl_filter(function(hunk)
    return not mark_of(session, hunk)
  end, hunks.of(session).list)
  close_undo_block(session.new_buf)
  -- From below, so that the lines of those above stay what they are.
  for i = #rest, 1, -1 do
    put_back(session, rest[i])
  end
end

return M
