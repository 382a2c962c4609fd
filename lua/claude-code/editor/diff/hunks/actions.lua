--- Single hunks: moving between them, accepting and dropping them.
---
--- A dropped hunk is the old file's lines put back into the proposal, as an edit that `u` undoes.
--- Once a hunk is accepted by itself, accepting the diff takes the accepted hunks only: the others
--- are dropped at that moment.
local api = vim.api
local accepted = require("claude-code.editor.diff.hunks.marks")
local hunks = require("claude-code.editor.diff.hunks")
local notify = require("claude-code.messages.notify")

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

---Not a jump: the window, and with it the jump list, may be the person's.
---@param session claude-code.Diff
---@param index integer
local function go_to(session, index)
  local win, side = viewed(session)
  local line = hunks.span(hunks.of(session).list[index], side)
  local count = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
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
  if #list == 0 or to == index then
    notify.info(
      #list == 0 and "nothing differs" or steps > 0 and "the last hunk" or "the first hunk"
    )
    return
  end
  go_to(session, to)
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
local function put_back(session, hunk)
  local buf = session.new_buf
  local lines = vim.list_slice(session.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
  local first, last = hunks.rows(hunk)
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
    notify.info("no hunk under the cursor")
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
  if index and accepted.toggle(session, index) and hunks.of(session).list[index + 1] then
    go_to(session, index + 1)
  end
end

---What accepting takes of the proposal as it is now.
---@param session claude-code.Diff
---@return string[] lines
function M.lines(session)
  local lines = api.nvim_buf_get_lines(session.new_buf, 0, -1, false)
  local choice = accepted.of(session)
  if not choice then
    return lines
  end
  local taken, from = {}, 1
  for index, hunk in ipairs(choice.of.list) do
    if choice.states[index] == "open" then
      local first, last = hunks.rows(hunk)
      vim.list_extend(taken, lines, from, first)
      vim.list_extend(taken, session.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
      from = last + 1
    end
  end
  if #lines > 1 or lines[1] ~= "" then
    vim.list_extend(taken, lines, from)
  end
  return #taken > 0 and taken or { "" }
end

---@param choice claude-code.Choice
---@return string? why accepting now may not be what the person means
local function doubt(choice)
  if choice.accepted == 0 then
    return "the accepted hunk is gone by an edit, so none is chosen: accept again to take all"
  elseif choice.joined and not choice.told then
    choice.told = true
    return "an accepted hunk was edited together with another: look again, then accept"
  end
end

---Drops what was not accepted, if any hunk was accepted by itself.
---@param session claude-code.Diff
---@return boolean done false: edits left the choice in doubt, and the person was told
function M.settle(session)
  local choice = accepted.of(session)
  local reason = choice and doubt(choice)
  if reason then
    notify.warn(reason)
    if choice.accepted == 0 then
      accepted.clear(session)
    end
    return false
  elseif choice then
    local lines = M.lines(session)
    close_undo_block(session.new_buf)
    api.nvim_buf_set_lines(session.new_buf, 0, -1, false, lines)
  end
  return true
end

return M
