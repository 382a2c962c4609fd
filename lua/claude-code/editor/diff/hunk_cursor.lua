--- The hunk under the cursor: moving from hunk to hunk, accepting one alone, and dropping one. A dropped hunk is
--- the old file's lines put back into the proposal, as an edit that `u` undoes.
local api = vim.api
local accepted = require("claude-code.editor.diff.accepted")
local hunks = require("claude-code.editor.changes.hunks")
local notify = require("claude-code.messages.notify")

local M = {}

---The window in which the user looks at the diff: the current window, else the one with the proposal.
---@return integer win
---@return "old"|"new" side
---@return integer count of the side's lines
local function viewed(view)
  local win = api.nvim_get_current_win()
  if not vim.tbl_contains(view.layout.windows, win) then
    win = view.layout.win
  end
  local buf = api.nvim_win_get_buf(win)
  return win, buf == view.proposal.old_buf and "old" or "new", api.nvim_buf_line_count(buf)
end

---@param view claude-code.View
---@param list? claude-code.Hunk[] instead of those that there are now
---@return integer? index of the hunk under the cursor
---@return integer nearest index of the last one at or above the cursor, 0 if there is none
function M.index(view, list)
  local win, side, count = viewed(view)
  list = list or view.proposal:hunks().list
  local line, to = api.nvim_win_get_cursor(win)[1], view.moved_to
  local tick = api.nvim_buf_get_changedtick(view.proposal.new_buf)
  local is_there = to and to.win == win and to.line == line and to.tick == tick
  local index = is_there and to.index or hunks.at(list, side, line, count)
  return index, index or hunks.before(list, side, line)
end

---Not a jump: the window, and with it the jump list, may be the user's.
local function go_to(view, index)
  local win, side, count = viewed(view)
  local line = math.min(hunks.span(view.proposal:hunks().list[index], side), count)
  api.nvim_win_set_cursor(win, { line, 0 })
  local tick = api.nvim_buf_get_changedtick(view.proposal.new_buf)
  view.moved_to = { index = index, tick = tick, win = win, line = line }
  view.layout:reveal(view.proposal:hunks().list[index])
end

---@param view claude-code.View
---@param steps integer negative: upwards
function M.move(view, steps)
  local list = view.proposal:hunks().list
  local index, nearest = M.index(view)
  local from = steps < 0 and not index and nearest + 1 or nearest
  local to = math.max(1, math.min(#list, from + steps))
  if #list == 0 then
    notify.info("the lines do not differ", "diff.hunk")
  elseif to == index then
    notify.info(steps > 0 and "this is the last hunk" or "this is the first hunk", "diff.hunk")
  else
    go_to(view, to)
  end
end

local function index_to_decide(view)
  local index = M.index(view)
  if not index then
    notify.info("the cursor is not on a hunk", "diff.hunk")
  end
  return index
end

---Puts the old lines back in place of the hunk, and of as many that follow as the count says.
---@param view claude-code.View
function M.drop(view)
  local proposal = view.proposal
  local buf = proposal.new_buf --[[@as integer]]
  require("claude-code.editor.documents.patch").break_undo(buf)
  for _ = 1, vim.v.count1 do
    local index = index_to_decide(view)
    local hunk = index and proposal:hunks().list[index]
    if not hunk then
      return
    end
    local lines = vim.list_slice(proposal.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
    local first, last = hunks.rows(hunk)
    if hunk.new_count == 0 and hunk.new == 0 and api.nvim_buf_line_count(buf) == 1 then
      -- A proposal without any text has a line in its buffer all the same.
      last = api.nvim_buf_get_lines(buf, 0, 1, false)[1] == "" and 1 or last
    end
    api.nvim_buf_set_lines(buf, first, last, false, lines)
    if not proposal:hunks().list[index] then
      return
    end
    go_to(view, index)
  end
end

---Accepts the hunk, or no longer if it was, and as many that follow as the count says.
---@param view claude-code.View
function M.accept(view)
  for _ = 1, vim.v.count1 do
    local index, proposal = index_to_decide(view), view.proposal
    if not (index and accepted.toggle(proposal, index) and proposal:hunks().list[index + 1]) then
      return
    end
    go_to(view, index + 1)
  end
end

return M
