--- Two windows in diff mode: the file on disk, and the proposal beside or below it. They borrow the file's window, or
--- open in a tab page of their own.
local api = vim.api
local hunks = require("claude-code.editor.changes.hunks")
local sides = require("claude-code.editor.changes.sides")
local windows = require("claude-code.editor.windows")

---@class claude-code.DiffSides : claude-code.Layout
---@field private proposal claude-code.Proposal
---@field private place claude-code.DiffPlace
---@field private old_win? integer
---@field private borrowed? claude-code.Borrowed `old_win`
---@field private shown? claude-code.HunkList what is drawn
---@field private sides? claude-code.Sides
local Sides = {}
Sides.__index = Sides

local M = {}

function M.new(proposal, place)
  return setmetatable({ proposal = proposal, place = place, windows = {} }, Sides)
end

function Sides:open()
  local proposal = self.proposal
  self.borrowed = self.place:take(proposal.old_buf --[[@as integer]])
  self.old_win = self.borrowed.win
  self.windows = { self.old_win }
  local half = sides.half(self.old_win, self.place.is_below and "below" or "right")
  -- Begin with the old side: otherwise `show` would add it to the jump list.
  self.win = api.nvim_open_win(proposal.old_buf, false, half)
  windows.show(self.win, proposal.new_buf)
  self.windows = { self.old_win, self.win }
  for _, win in ipairs(self.windows) do
    vim.wo[win][0].winfixbuf = false
  end
  self.sides = sides.start(self.old_win, self.win, true)
  for _, win in ipairs(self.windows) do
    -- A bar that appears after the cursor has moved may scroll the change to the top line.
    vim.wo[win][0].winbar = " "
    api.nvim_win_set_cursor(win, { 1, 0 })
  end
  self:fold()
  -- Scroll both sides to the first change.
  local hunk = self.proposal:hunks().list[1]
  for win, side in pairs(hunk and { [self.old_win] = "old", [self.win] = "new" } or {}) do
    local count = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
    api.nvim_win_set_cursor(win, { math.min(hunks.span(hunk, side), count), 0 })
  end
  self:reveal(hunk)
end

---Folds equal lines, unless all of the diff fits into the windows.
---@private
function Sides:fold()
  local rows = api.nvim_buf_line_count(self.proposal.new_buf)
  for _, hunk in ipairs(self.proposal:hunks().list) do
    rows = rows + math.max(0, hunk.old_count - hunk.new_count)
  end
  for _, win in ipairs(self.windows) do
    -- The bar takes a row.
    vim.wo[win][0].foldenable = rows > api.nvim_win_get_height(win) - 1
  end
end

function Sides:is_intact()
  return windows.shows(self.old_win, self.proposal.old_buf)
    and windows.shows(self.win, self.proposal.new_buf)
end

function Sides:even_out()
  if self:is_intact() then
    self.sides:even_out(self.place.is_below)
    self:fold()
  end
end

function Sides:is_cramped()
  local width = api.nvim_win_get_width
  return self:is_intact() and self.place:is_cramped(width(self.old_win) + width(self.win) + 1)
end

---Draws the hunks if the proposal has changed.
function Sides:refresh()
  local now = self.proposal:hunks()
  if self.shown ~= now then
    self.shown = now
    self.sides:draw(now.list)
  end
end

---@param hunk? claude-code.Hunk
function Sides:reveal(hunk)
  self.sides:reveal(hunk)
end

---@private
function Sides:has_side(win)
  return windows.shows(win, self.proposal.old_buf) or windows.shows(win, self.proposal.new_buf)
end

---Does the proposal's window replace the borrowed one? It does if the user closed or reused one of the two.
---@private
function Sides:is_replaced(old_is_ours, new_is_ours)
  if not self.borrowed or self.borrowed.is_new then
    return false
  elseif not api.nvim_win_is_valid(self.old_win) then
    return new_is_ours
  end
  return old_is_ours
    and not new_is_ours
    and self.win ~= nil
    and api.nvim_win_is_valid(self.win)
    and api.nvim_win_get_tabpage(self.win) == api.nvim_win_get_tabpage(self.old_win)
end

---@return integer? gone, integer? instead
function Sides:close()
  local old_is_ours, new_is_ours = self:has_side(self.old_win), self:has_side(self.win)
  local is_replaced = self:is_replaced(old_is_ours, new_is_ours)
  if self.sides then
    self.sides:stop()
  end
  -- Windows that show something else by now get their options back.
  for win, ours in pairs({ [self.old_win or 0] = old_is_ours, [self.win or 0] = new_is_ours }) do
    if win ~= 0 and not ours and api.nvim_win_is_valid(win) then
      self.borrowed:release(sides.OPTIONS, win)
    end
  end
  if is_replaced and new_is_ours then
    self.borrowed:give_back(self.win)
  elseif is_replaced then
    windows.close(self.old_win)
  elseif old_is_ours then
    self.borrowed:give_back()
  end
  if new_is_ours and not is_replaced then
    windows.close(self.win)
  end
  if self.borrowed then
    self.borrowed:restore_bufhidden()
  end
  if is_replaced then
    return self.old_win, self.win
  end
end

return M
