--- Two windows in diff mode, with the old and the new text. Diff mode fills, folds and scrolls. We draw the colours,
--- since its own cover those of the text, and its changes within lines differ by version.
local api, fn = vim.api, vim.fn
local draw = require("claude-code.editor.changes.draw")
local hunks = require("claude-code.editor.changes.hunks")
local pairs_of_lines = require("claude-code.editor.changes.pairs")
local reveal = require("claude-code.editor.changes.reveal")

local DIFF_GROUPS = "DiffAdd:ClaudeCodePlain,DiffChange:ClaudeCodePlain,DiffText:ClaudeCodePlain,"
  .. "DiffTextAdd:ClaudeCodePlain,DiffDelete:ClaudeCodeFiller"
local LINEMATCH = "linematch:40"
local NAMESPACE = api.nvim_create_namespace("claude-code.changes.sides")

---The columns that two sides need: 45 each and a separator.
local MIN_WIDTH = 91
---The lines that two sides below each other need: four of text, a status line and a bar each.
local MIN_HEIGHT = 12

---Limits for both sides together: 0.12 takes 1.5 s for the changed parts of 20,000 unlike lines, and 0.4 s for 2,000
---hunks.
local MAX_CHANGED_LINES = 4000
local MAX_CHANGED_BYTES = 150 * 1000
local MAX_HUNKS = 400

local M = {
  ---Window options that diff mode or we change.
  OPTIONS = {
    "conceallevel",
    "cursorbind",
    "diff",
    "foldcolumn",
    "foldenable",
    "foldlevel",
    "foldmethod",
    "scrollbind",
    "signcolumn",
    "winbar",
    "winhighlight",
    "wrap",
  },
}

---@class claude-code.Sides
---@field old_win integer
---@field new_win integer
---@field private drawings claude-code.Drawing[]
---@field private adds_linematch boolean
---@field private scrollopt string before :diffthis, which changes it for all windows
local Sides = {}
Sides.__index = Sides

---@return boolean is one side below the other?
function M.is_below()
  return vim.list_contains(vim.opt.diffopt:get(), "horizontal")
end

function M.fits(width, height)
  if M.is_below() then
    return height >= MIN_HEIGHT
  end
  return width >= MIN_WIDTH
end

local function is_too_big(old, new, list)
  local lines, bytes = 0, 0
  for _, hunk in ipairs(#list <= MAX_HUNKS and list or {}) do
    lines = lines + hunk.old_count + hunk.new_count
    bytes = bytes
      + #table.concat(old, "", hunk.old, hunk.old + hunk.old_count - 1)
      + #table.concat(new, "", hunk.new, hunk.new + hunk.new_count - 1)
  end
  return #list > MAX_HUNKS or lines > MAX_CHANGED_LINES or bytes > MAX_CHANGED_BYTES
end

---@param old string[]
---@param new string[]
---@param list claude-code.Hunk[] between them
---@return string? reason to draw the change inline
function M.why_inline(old, new, list)
  if is_too_big(old, new, list) then
    return "the change is too big for diff mode"
  elseif hunks.hides_changes(old, new) then
    return "'diffopt' hides changes of white space"
  end
end

---@param split "above"|"below"|"left"|"right"
---@return vim.api.keyset.win_config of the other side, with a size, which keeps 'equalalways' from resizing all windows
function M.half(win, split)
  local dimension = (split == "left" or split == "right") and "width" or "height"
  local room = api["nvim_win_get_" .. dimension](win)
  return { win = win, split = split, [dimension] = math.max(1, math.floor((room - 1) / 2)) }
end

---@param folds boolean equal lines are folded
function M.start(old_win, new_win, folds)
  local self = setmetatable({ old_win = old_win, new_win = new_win, drawings = {} }, Sides)
  self.scrollopt = vim.go.scrollopt
  -- TODO(0.10): without linematch, diff mode pairs lines by their place.
  self.adds_linematch = not vim.go.diffopt:find("linematch", 1, true)
  if self.adds_linematch then
    vim.opt.diffopt:append(LINEMATCH)
  end
  vim.opt.scrollopt:append("hor")
  for _, win in ipairs({ old_win, new_win }) do
    local options = vim.wo[win][0]
    -- A change may be in concealed text, such as the address of a link.
    options.conceallevel = 0
    if folds then
      api.nvim_win_call(win, vim.cmd.diffthis)
    else
      -- Unlike :diffthis, this keeps the user's folds.
      options.foldenable, options.wrap = false, false
      if vim.startswith(options.signcolumn, "auto") then
        options.signcolumn = "yes:1" -- one side has signs
      end
      options.scrollbind, options.cursorbind, options.diff = true, true, true
    end
    local maps = { vim.wo[win].winhighlight, DIFF_GROUPS }
    options.winhighlight = table.concat(maps, ",", maps[1] == "" and 2 or 1)
  end
  return self
end

---A split of a side has copied its colours.
function M.is_side(win)
  return vim.wo[win].diff and vim.wo[win].winhighlight:find(DIFF_GROUPS, 1, true) ~= nil
end

local function lines_of(buf, first, count)
  return count == 0 and {} or api.nvim_buf_get_lines(buf, first - 1, first - 1 + count, false)
end

---@private
---@return integer old_buf, integer new_buf
function Sides:buffers()
  return api.nvim_win_get_buf(self.old_win), api.nvim_win_get_buf(self.new_win)
end

---@param list claude-code.Hunk[] of the current texts
function Sides:draw(list)
  local old_buf, new_buf = self:buffers()
  local function changes(hunk)
    local old = lines_of(old_buf, hunk.old, hunk.old_count)
    return pairs_of_lines.changes(old, lines_of(new_buf, hunk.new, hunk.new_count))
  end
  self.drawings = {
    draw.start(old_buf, NAMESPACE, list, function(pen, hunk)
      local changed, first = changes(hunk), hunk.old - 1
      draw.lines(pen, first, hunk.old_count, changed, "ClaudeCodeDelete", "ClaudeCodeDeleteText")
    end, "old"),
    draw.start(new_buf, NAMESPACE, list, function(pen, hunk)
      local _, changed = changes(hunk)
      draw.lines(pen, hunk.new - 1, hunk.new_count, changed, "ClaudeCodeAdd", "ClaudeCodeAddText")
    end, "new"),
  }
end

---Scrolls the old side to the rows that the new side shows. TODO(0.10): |:syncbind| ignores filler lines.
---@param list claude-code.Hunk[] of the current texts
function Sides:align(list)
  local view = api.nvim_win_call(self.new_win, fn.winsaveview)
  local hunk = list[hunks.before(list, "new", view.topline)]
  local function first(side)
    return hunk and hunks.span(hunk, side) or 1
  end
  -- With filler lines, both sides have the same rows between the beginning of the hunk and the top of the screen.
  local rows = view.topline - first("new") - view.topfill
  api.nvim_win_call(self.new_win, function()
    for line = first("new"), view.topline do
      rows = rows + fn.diff_filler(line)
    end
  end)
  api.nvim_win_call(self.old_win, function()
    local line = first("old")
    local above = fn.diff_filler(line)
    while above < rows and line < fn.line("$") do
      line = line + 1
      above = above + 1 + fn.diff_filler(line)
    end
    fn.winrestview({ topline = line, topfill = math.max(above - rows, 0) })
  end)
end

---Scrolls both sides to a change far to the right.
---@param hunk? claude-code.Hunk
function Sides:reveal(hunk)
  if not hunk or hunk.old_count == 0 or hunk.new_count == 0 then
    return
  end
  local old_buf, new_buf = self:buffers()
  local old, new = lines_of(old_buf, hunk.old, 1)[1] or "", lines_of(new_buf, hunk.new, 1)[1] or ""
  reveal.changed_part(self.old_win, hunk.old, new)
  reveal.changed_part(self.new_win, hunk.new, old)
end

---Makes both sides the same size.
function Sides:even_out(is_below)
  local dimension = is_below and "height" or "width"
  local get, set = api["nvim_win_get_" .. dimension], api["nvim_win_set_" .. dimension]
  -- The other side is its neighbour and gets the rest.
  set(self.old_win, math.floor((get(self.old_win) + get(self.new_win)) / 2))
end

function Sides:stop()
  for _, win in ipairs({ self.old_win, self.new_win }) do
    if api.nvim_win_is_valid(win) then
      api.nvim_win_call(win, vim.cmd.diffoff)
    end
  end
  vim.go.scrollopt = self.scrollopt
  if self.adds_linematch then
    vim.opt.diffopt:remove(LINEMATCH)
  end
  for _, drawing in ipairs(self.drawings) do
    drawing:stop()
  end
end

return M
