--- The bar ('winbar') above a file in a review: which hunk of how many, which file, what to know about
--- the hunk under the cursor, and the keys.
local api = vim.api
local highlights = require("claude-code.editor.hunks.highlights")
local keys = require("claude-code.editor.review.keys")

---Shows nothing, and begins each bar of a review: Neovim copies a window's options to the windows that
---are split from it, and restores them with a buffer that was shown with them.
local MARK = "%(%)"

local M = {}

---@type table<integer, string> by window: its own value of 'winbar', as somebody else has set it last
local before = {}

---@param win integer
---@return string? value of somebody else; "" if the global one counts there
local function own_value(win)
  local value = api.nvim_get_option_value("winbar", { win = win, scope = "local" })
  return not vim.startswith(value, MARK) and value or nil
end

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

---@param win integer
---@param bar string
---@return integer cells
local function width_of(win, bar)
  return api.nvim_eval_statusline(bar, { winid = win, use_winbar = true, maxwidth = 1000 }).width
end

---The keys, as many as there is room for; the most important last.
---@param win integer
---@param room integer in cells
---@return string
local function hints(win, room)
  local text = ""
  for _, hint in ipairs({
    { "keep", "keep" },
    { "undo", "undo" },
    { "comment", "comment" },
    { "next_file", "file" },
    { "next_hunk", "next" },
  }) do
    local key = keys.of(hint[1])[1]
    local longer = key and part("Key", "  " .. key) .. part("Note", " " .. hint[2]) .. text
    if longer and width_of(win, longer) > room then
      break
    end
    text = longer or text
  end
  return text
end

---@class claude-code.ReviewPosition
---@field file integer number of the file
---@field files integer how many there are
---@field whole? string what became of the file, if it is one entry
---@field mode? string how its mode changed, beside the hunks
---@field hunk integer number of the hunk at the cursor, or of the last one above it
---@field hunks integer
---@field at? claude-code.ReviewHunk under the cursor
---@field name string

---@param position claude-code.ReviewPosition
---@return string
local function counts(position)
  local hunks = ("hunk %d/%d "):format(position.hunk, position.hunks)
  local of_files = ("file %d/%d "):format(position.file, position.files)
  return (position.whole and "" or hunks) .. (position.files > 1 and of_files or "")
end

---@param win integer
---@param position claude-code.ReviewPosition
function M.show(win, position)
  local at = position.at
  -- Where it is too narrow for the rest, the beginning of the path gives way.
  local left = table.concat({
    MARK,
    " %<",
    part("File", position.name),
    position.whole
        and part("Note", (" %s%s"):format(position.whole, position.files > 1 and "," or ""))
      or "",
    part("Count", (" %s"):format(counts(position))),
    at and part("Added", ("+%d "):format(at.added)) or "",
    at and part("Removed", ("−%d "):format(at.removed)) or "",
    position.mode and part("Note", (" %s "):format(position.mode)) or "",
    warnings(at),
  })
  local room = api.nvim_win_get_width(win) - width_of(win, left) - 1
  local text = left .. "%=" .. hints(win, room) .. "%* "
  before[win] = own_value(win) or before[win]
  if vim.wo[win].winbar ~= text then
    api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
  end
end

---@param win integer
function M.hide(win)
  local was = before[win] or ""
  before[win] = nil
  if not own_value(win) then
    api.nvim_set_option_value("winbar", was, { win = win, scope = "local" })
  end
end

function M.hide_all()
  vim.iter(api.nvim_list_wins()):each(M.hide)
  before = {}
end

return M
