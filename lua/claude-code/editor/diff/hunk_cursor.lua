--- The hunk under the cursor: moving from hunk to hunk, accepting one by itself, and dropping one. A dropped hunk is
--- the old file's lines put back into the proposal, as an edit that `u` undoes.
local api = vim.api
local hunks = require("claude-code.editor.hunks")
local notify = require("claude-code.messages.notify")

---@class claude-code.HunkCursor
---@field private proposal claude-code.Proposal
---@field private layout claude-code.Layout
---@field private moved_to? { index: integer, tick: integer, win: integer, line: integer } hunk the cursor
--- was moved to; with two hunks on one line it says which
local HunkCursor = {}
HunkCursor.__index = HunkCursor

local M = {}

---@param proposal claude-code.Proposal
---@param layout claude-code.Layout
---@return claude-code.HunkCursor
function M.new(proposal, layout)
  return setmetatable({ proposal = proposal, layout = layout }, HunkCursor)
end

---Where the user looks at the diff: the current window, else the one with the proposal.
---@private
---@return integer win
---@return "old"|"new" side
---@return integer count of the side's lines
function HunkCursor:viewed()
  local win = api.nvim_get_current_win()
  if not vim.tbl_contains(self.layout.windows, win) then
    win = self.layout.win
  end
  local buf = api.nvim_win_get_buf(win)
  return win, buf == self.proposal.old_buf and "old" or "new", api.nvim_buf_line_count(buf)
end

---@param list? claude-code.Hunk[] instead of those that there are now
---@return integer? index of the hunk under the cursor
---@return integer nearest index of the last one at or above the cursor, 0 if there is none
function HunkCursor:index(list)
  local win, side, count = self:viewed()
  list = list or self.proposal:hunks().list
  local line, to = api.nvim_win_get_cursor(win)[1], self.moved_to
  local is_there = to
    and to.win == win
    and to.line == line
    and to.tick == api.nvim_buf_get_changedtick(self.proposal.new_buf)
  local index = is_there and to.index or hunks.at(list, side, line, count)
  return index, index or hunks.before(list, side, line)
end

---Not a jump: the window, and with it the jump list, may be the user's.
---@param index integer
function HunkCursor:go_to(index)
  local win, side, count = self:viewed()
  local line = math.min(hunks.span(self.proposal:hunks().list[index], side), count)
  api.nvim_win_set_cursor(win, { line, 0 })
  local tick = api.nvim_buf_get_changedtick(self.proposal.new_buf)
  self.moved_to = { index = index, tick = tick, win = win, line = line }
  self.layout:reveal(self.proposal:hunks().list[index])
end

---@param steps integer negative: upwards
function HunkCursor:move(steps)
  local list = self.proposal:hunks().list
  local index, nearest = self:index()
  local from = steps < 0 and not index and nearest + 1 or nearest
  local to = math.max(1, math.min(#list, from + steps))
  if #list == 0 then
    notify.info("the lines do not differ", "diff.hunk")
  elseif to == index then
    notify.info(steps > 0 and "this is the last hunk" or "this is the first hunk", "diff.hunk")
  else
    self:go_to(to)
  end
end

---@private
---@return integer? index
function HunkCursor:index_to_decide()
  local index = self:index()
  if not index then
    notify.info("the cursor is not on a hunk", "diff.hunk")
  end
  return index
end

---Puts the old lines back in place of the hunk.
function HunkCursor:drop()
  local index, proposal = self:index_to_decide(), self.proposal
  local hunk = index and proposal:hunks().list[index]
  if not hunk then
    return
  end
  local buf = proposal.new_buf --[[@as integer]]
  local lines = vim.list_slice(proposal.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
  local first, last = hunks.rows(hunk)
  if hunk.new_count == 0 and hunk.new == 0 and api.nvim_buf_line_count(buf) == 1 then
    -- A proposal without any text has a line in its buffer all the same.
    last = api.nvim_buf_get_lines(buf, 0, 1, false)[1] == "" and 1 or last
  end
  require("claude-code.editor.documents.patch").break_undo(buf)
  api.nvim_buf_set_lines(buf, first, last, false, lines)
  if proposal:hunks().list[index] then
    self:go_to(index)
  end
end

---Accepts the hunk, or no longer if it was.
function HunkCursor:accept()
  local index, proposal = self:index_to_decide(), self.proposal
  if index and proposal.accepted:toggle(index) and proposal:hunks().list[index + 1] then
    self:go_to(index + 1)
  end
end

return M
