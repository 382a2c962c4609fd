--- The bar ('winbar') above a file in a review: which hunk of how many, which file, what to know about
--- the hunk under the cursor, and the keys.
local api = vim.api
local highlights = require("claude-code.editor.diff.highlights")
local keys = require("claude-code.editor.review.keys")

---A bar of so many cells has room for words beside the keys.
local WIDE = 90

local M = {}

---@type table<integer, string> by window: its bar before the review
local before = {}

---@param group string
---@param text string
---@return string
local function part(group, text)
  return ("%%#%s#%s"):format(highlights.name(group), (vim.fn.strtrans(text):gsub("%%", "%%%%")))
end

---@param hunk claude-code.ReviewHunk?
---@return string
local function warnings(hunk)
  if not hunk then
    return ""
  elseif hunk.queued then
    return part("Note", " undone when Claude's turn ends ")
  elseif hunk.conflict then
    return part("Warning", " your edits conflict ")
  elseif hunk.mixed then
    return part("Note", " with your edits ")
  end
  return ""
end

---@param wide boolean
---@return string
local function hints(wide)
  local parts = {}
  for _, hint in ipairs({
    { "next_hunk", "next" },
    { "next_file", "file" },
    { "comment", "comment" },
    { "undo", "undo" },
    { "keep", "keep" },
  }) do
    local key = keys.of(hint[1])[1]
    local is_needed = wide or hint[1] == "undo" or hint[1] == "keep"
    if key and is_needed then
      parts[#parts + 1] = part("Key", "  " .. key) .. part("Note", " " .. hint[2])
    end
  end
  return table.concat(parts)
end

---@class claude-code.ReviewPosition
---@field file integer number of the file
---@field files integer how many there are
---@field hunk integer number of the hunk at the cursor, or of the last one above it
---@field hunks integer
---@field at? claude-code.ReviewHunk under the cursor
---@field name string

---@param win integer
---@param position claude-code.ReviewPosition
function M.show(win, position)
  local wide = api.nvim_win_get_width(win) >= WIDE
  local counts = (" hunk %d/%d "):format(position.hunk, position.hunks)
  local of_files = position.files > 1 and ("file %d/%d "):format(position.file, position.files)
    or ""
  local text = table.concat({
    " ",
    part("File", position.name),
    part("Count", counts .. of_files),
    "%<",
    position.at and part("Added", ("+%d "):format(position.at.added)) or "",
    position.at and part("Removed", ("−%d "):format(position.at.removed)) or "",
    warnings(position.at),
    "%=",
    hints(wide),
    "%* ",
  })
  before[win] = before[win] or vim.wo[win].winbar
  if vim.wo[win].winbar ~= text then
    api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
  end
end

---@param win integer
function M.hide(win)
  local was = before[win]
  before[win] = nil
  if was and api.nvim_win_is_valid(win) then
    api.nvim_set_option_value("winbar", was, { win = win, scope = "local" })
  end
end

function M.hide_all()
  for win in pairs(before) do
    M.hide(win)
  end
end

return M
