--- Two windows in diff mode: the file on disk, and beside or below it the proposal; in the place of
--- the file's window, which is borrowed for that, or on a tab page of their own.
local api = vim.api
local draw = require("claude-code.editor.changes.draw")
local hunks = require("claude-code.editor.changes.hunks")
local pairs_of_lines = require("claude-code.editor.changes.pairs")
local reveal = require("claude-code.editor.changes.reveal")
local windows = require("claude-code.editor.windows")

---Options that diff mode and we change in a window.
local DIFF_OPTIONS = {
  "conceallevel",
  "cursorbind",
  "diff",
  "foldcolumn",
  "foldenable",
  "foldlevel",
  "foldmethod",
  "scrollbind",
  "winbar",
  "winhighlight",
  "wrap",
}

---Diff mode's colours would cover those of the text, and it marks what changed within lines by other rules in each
---version of Neovim. We draw both; it fills, folds and scrolls.
local DIFF_GROUPS = "DiffAdd:ClaudeCodePlain,DiffChange:ClaudeCodePlain,DiffText:ClaudeCodePlain,"
  .. "DiffTextAdd:ClaudeCodePlain,DiffDelete:ClaudeCodeFiller"
local LINEMATCH = "linematch:40"
local NAMESPACE = api.nvim_create_namespace("claude-code.diff.words")

---@class claude-code.Sides : claude-code.Layout
---@field private proposal claude-code.Proposal
---@field private place claude-code.DiffPlace
---@field private old_win? integer
---@field private borrowed? claude-code.Borrowed `old_win`
---@field private shown? claude-code.HunkList whose words are marked
---@field private drawings? table<"old"|"new", claude-code.Drawing>
---@field private adds_linematch? boolean
---@field private scrollopt? string as :diffthis, which changes it for all windows, found it
local Sides = {}
Sides.__index = Sides

local M = {}

---@param proposal claude-code.Proposal
---@param place claude-code.DiffPlace
---@return claude-code.Sides
function M.new(proposal, place)
  return setmetatable({ proposal = proposal, place = place, windows = {} }, Sides)
end

local function lines_of(buf, first, count)
  return count == 0 and {} or api.nvim_buf_get_lines(buf, first - 1, first - 1 + count, false)
end

---The proposal's side: a size of its own keeps 'equalalways' from resizing all windows.
---@private
function Sides:split()
  local win, is_below = self.old_win, self.place.is_below
  local room = is_below and api.nvim_win_get_height(win) or api.nvim_win_get_width(win)
  local half = math.max(1, math.floor((room - 1) / 2))
  return {
    win = win,
    split = is_below and "below" or "right",
    [is_below and "height" or "width"] = half,
  }
end

function Sides:open()
  self.borrowed = self.place:take(self.proposal.old_buf --[[@as integer]])
  self.old_win = self.borrowed.win
  self.windows = { self.old_win }
  self.scrollopt = vim.go.scrollopt
  -- TODO(0.10): without it, it pairs lines by their place.
  self.adds_linematch = not vim.go.diffopt:find("linematch", 1, true)
  if self.adds_linematch then
    vim.opt.diffopt:append(LINEMATCH)
  end
  -- First with the other side: the proposal would put that into the jump list.
  self.win = api.nvim_open_win(self.proposal.old_buf, false, self:split())
  windows.show(self.win, self.proposal.new_buf)
  self.windows = { self.old_win, self.win }
  for _, win in ipairs(self.windows) do
    vim.wo[win][0].winfixbuf = false
    -- A link's address, for one, is part of what is written.
    vim.wo[win][0].conceallevel = 0
    api.nvim_win_call(win, vim.cmd.diffthis)
    local maps = { vim.wo[win].winhighlight, DIFF_GROUPS }
    vim.wo[win][0].winhighlight = table.concat(maps, ",", maps[1] == "" and 2 or 1)
    -- Here already: a bar that comes after the cursor has moved may scroll the change to the top line.
    vim.wo[win][0].winbar = " "
    api.nvim_win_set_cursor(win, { 1, 0 })
  end
  self:fold()
  -- Both sides at the first change.
  local hunk = self.proposal:hunks().list[1]
  for win, side in pairs(hunk and { [self.old_win] = "old", [self.win] = "new" } or {}) do
    local count = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
    api.nvim_win_set_cursor(win, { math.min(hunks.span(hunk, side), count), 0 })
  end
  self:reveal(hunk)
end

---Folds what is the same, unless all of the diff fits into the windows.
---@private
function Sides:fold()
  local rows = api.nvim_buf_line_count(self.proposal.new_buf)
  for _, hunk in ipairs(self.proposal:hunks().list) do
    rows = rows + math.max(0, hunk.old_count - hunk.new_count)
  end
  for _, win in ipairs(self.windows) do
    -- One row is the bar's.
    vim.wo[win][0].foldenable = rows > api.nvim_win_get_height(win) - 1
  end
end

function Sides:is_intact()
  return windows.shows(self.old_win, self.proposal.old_buf)
    and windows.shows(self.win, self.proposal.new_buf)
end

---Both sides the same size again, of the room that they have together.
function Sides:even_out()
  if not self:is_intact() then
    return
  end
  local dimension = self.place.is_below and "height" or "width"
  local get, set = api["nvim_win_get_" .. dimension], api["nvim_win_set_" .. dimension]
  -- The second side, which is next to it, gets the rest.
  set(self.old_win, math.floor((get(self.old_win) + get(self.win)) / 2))
  self:fold()
end

function Sides:is_cramped()
  local width = api.nvim_win_get_width
  return self:is_intact() and self.place:is_cramped(width(self.old_win) + width(self.win) + 1)
end

---Diff mode finds the lines that changed; the words are marked here, unless the proposal is as before.
function Sides:refresh()
  local proposal, now = self.proposal, self.proposal:hunks()
  if self.shown == now then
    return
  end
  self.shown, self.drawings = now, {}
  for side, buf in pairs({ old = proposal.old_buf, new = proposal.new_buf }) do
    self.drawings[side] = draw.start(buf, NAMESPACE, now.list, function(pen, hunk)
      local old = lines_of(proposal.old_buf, hunk.old, hunk.old_count)
      local new = lines_of(proposal.new_buf, hunk.new, hunk.new_count)
      local in_old, in_new = pairs_of_lines.changes(old, new)
      if side == "old" then
        draw.lines(pen, hunk.old - 1, #old, in_old, "ClaudeCodeDelete", "ClaudeCodeDeleteText")
      else
        draw.lines(pen, hunk.new - 1, #new, in_new, "ClaudeCodeAdd", "ClaudeCodeAddText")
      end
    end, side)
  end
end

---@param hunk? claude-code.Hunk
function Sides:reveal(hunk)
  if not hunk or hunk.old_count == 0 or hunk.new_count == 0 then
    return
  end
  local proposal = self.proposal
  local old, new = proposal.old.lines[hunk.old], proposal:lines()[hunk.new]
  reveal.changed_part(self.old_win, hunk.old, new)
  reveal.changed_part(self.win, hunk.new, old)
end

---@private
function Sides:end_diff_mode()
  for _, win in ipairs(self.windows) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_call(win, vim.cmd.diffoff)
    end
  end
  vim.go.scrollopt = self.scrollopt or vim.go.scrollopt
  if self.adds_linematch then
    vim.opt.diffopt:remove(LINEMATCH)
  end
end

---@private
function Sides:has_side(win)
  return windows.shows(win, self.proposal.old_buf) or windows.shows(win, self.proposal.new_buf)
end

---Windows that show something else by now get their options back.
---@private
function Sides:release(old_is_ours, new_is_ours)
  for win, ours in pairs({ [self.old_win or 0] = old_is_ours, [self.win or 0] = new_is_ours }) do
    if win ~= 0 and not ours and api.nvim_win_is_valid(win) then
      self.borrowed:release(DIFF_OPTIONS, win)
    end
  end
end

---The proposal's window stays in the place of the borrowed one if that was closed, or if the user opened something
---beside it.
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

---@return integer? gone
---@return integer? instead
function Sides:close()
  local old_is_ours, new_is_ours = self:has_side(self.old_win), self:has_side(self.win)
  local is_replaced = self:is_replaced(old_is_ours, new_is_ours)
  self:end_diff_mode()
  for _, drawing in pairs(self.drawings or {}) do
    drawing:stop()
  end
  self:release(old_is_ours, new_is_ours)
  if is_replaced and new_is_ours then
    self.borrowed:give_back(self.win)
  elseif old_is_ours and not is_replaced then
    self.borrowed:give_back()
  end
  if new_is_ours and not is_replaced then
    windows.close(self.win)
  end
  if old_is_ours and is_replaced then
    windows.close(self.old_win)
  end
  if self.borrowed then
    self.borrowed:restore_bufhidden()
  end
  if is_replaced then
    return self.old_win, self.win
  end
end

return M
