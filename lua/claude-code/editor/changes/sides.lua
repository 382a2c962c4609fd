--- Two windows in diff mode, one with the old text and one with the new text. Diff mode's colours would cover those of
--- the text, and it marks what changed within lines by other rules in each version of Neovim. We draw both; it fills,
--- folds and scrolls.
local api = vim.api
local draw = require("claude-code.editor.changes.draw")
local hunks = require("claude-code.editor.changes.hunks")
local pairs_of_lines = require("claude-code.editor.changes.pairs")
local reveal = require("claude-code.editor.changes.reveal")

local DIFF_GROUPS = "DiffAdd:ClaudeCodePlain,DiffChange:ClaudeCodePlain,DiffText:ClaudeCodePlain,"
  .. "DiffTextAdd:ClaudeCodePlain,DiffDelete:ClaudeCodeFiller"
local LINEMATCH = "linematch:40"
local NAMESPACE = api.nvim_create_namespace("claude-code.changes.sides")

---Columns of two sides beside each other, 45 each: with less a side shows too little of a change.
local MIN_WIDTH = 91
---Lines of two sides below each other: four, a status line and a bar each.
local MIN_HEIGHT = 12

---Above these, diff mode keeps Neovim from answering: Neovim 0.12 needs 1.5 s to find the changed parts of 20,000
---unlike lines, and 0.4 s for 2,000 hunks. Changed lines and bytes are those of both sides.
local MAX_CHANGED_LINES = 4000
local MAX_CHANGED_BYTES = 150 * 1000
local MAX_HUNKS = 400

local M = {
  ---What diff mode and we change in a window.
  OPTIONS = {
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
  },
}

---@class claude-code.Sides
---@field old_win integer
---@field new_win integer
---@field private drawings claude-code.Drawing[]
---@field private adds_linematch boolean
---@field private scrollopt string as :diffthis, which changes it for all windows, found it
local Sides = {}
Sides.__index = Sides

---@return boolean is one side below the other?
function M.is_below()
  return vim.list_contains(vim.opt.diffopt:get(), "horizontal")
end

---@return boolean is so much room enough?
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
---@return string? reason that only an inline drawing shows all of it
function M.why_inline(old, new, list)
  if is_too_big(old, new, list) then
    return "the change is too big for diff mode"
  elseif hunks.hides_changes(old, new) then
    return "'diffopt' hides changes of white space"
  end
end

---@param win integer
---@param split "above"|"below"|"left"|"right"
---@return vim.api.keyset.win_config of the other side: a size of its own keeps 'equalalways' from resizing all windows
function M.half(win, split)
  local dimension = (split == "left" or split == "right") and "width" or "height"
  local room = api["nvim_win_get_" .. dimension](win)
  return { win = win, split = split, [dimension] = math.max(1, math.floor((room - 1) / 2)) }
end

---@param old_win integer
---@param new_win integer
---@param folds boolean what is the same
---@return claude-code.Sides
function M.start(old_win, new_win, folds)
  local self = setmetatable({ old_win = old_win, new_win = new_win, drawings = {} }, Sides)
  self.scrollopt = vim.go.scrollopt
  -- TODO(0.10): without it, it pairs lines by their place.
  self.adds_linematch = not vim.go.diffopt:find("linematch", 1, true)
  if self.adds_linematch then
    vim.opt.diffopt:append(LINEMATCH)
  end
  vim.opt.scrollopt:append("hor")
  for _, win in ipairs({ old_win, new_win }) do
    local options = vim.wo[win][0]
    -- A link's address, for one, is part of what is written.
    options.conceallevel = 0
    if folds then
      api.nvim_win_call(win, vim.cmd.diffthis)
    else
      -- Unlike :diffthis this leaves the folds that the user has made.
      options.foldenable, options.wrap = false, false
      options.scrollbind, options.cursorbind, options.diff = true, true, true
    end
    local maps = { vim.wo[win].winhighlight, DIFF_GROUPS }
    options.winhighlight = table.concat(maps, ",", maps[1] == "" and 2 or 1)
  end
  return self
end

---Does a window have these colours, also as a copy from the window that it was split off?
---@param win integer
---@return boolean
function M.is_side(win)
  return vim.wo[win].diff and vim.wo[win].winhighlight:find(DIFF_GROUPS, 1, true) ~= nil
end

---@param first integer 1-based
local function lines_of(buf, first, count)
  return count == 0 and {} or api.nvim_buf_get_lines(buf, first - 1, first - 1 + count, false)
end

---@private
---@return integer old_buf
---@return integer new_buf
function Sides:buffers()
  return api.nvim_win_get_buf(self.old_win), api.nvim_win_get_buf(self.new_win)
end

---@param list claude-code.Hunk[] of the texts that the windows show now
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

---Scrolls both sides to what changed far to the right.
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

---Both sides the same size again, of the room that they have together.
---@param is_below boolean
function Sides:even_out(is_below)
  local dimension = is_below and "height" or "width"
  local get, set = api["nvim_win_get_" .. dimension], api["nvim_win_set_" .. dimension]
  -- What one side gives or takes is the other one's, which is next to it.
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
