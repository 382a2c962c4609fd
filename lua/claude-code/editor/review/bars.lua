--- The bars ('winbar') above the files of a review: which hunk of how many, which file, what to know about
--- the hunk under the cursor, and the keys.
local api = vim.api
local base = require("claude-code.editor.review.base")
local buffers = require("claude-code.editor.review.buffer")
local listing = require("claude-code.editor.review.listing")
local highlights = require("claude-code.editor.hunks.highlights")
local hunk_keys = require("claude-code.editor.hunks.keys")
local kinds = require("claude-code.editor.review.kinds")
local reload = require("claude-code.editor.documents.reload")
local winbar = require("claude-code.editor.windows.winbar")

---Shows nothing, and begins each bar of a review.
local MARK = "%(%)"

---The most important last.
local HINTS = {
  { "next_hunk", "next" },
  { "next_file", "file" },
  { "comment", "comment" },
  { "undo", "undo" },
  { "keep", "keep" },
}

local M = {}

local group ---@type integer? of the autocommands, during a review

---@class claude-code.ReviewPosition
---@field file integer number of the file
---@field files integer how many there are
---@field whole? string what became of the file, if it is one entry
---@field mode? string how its mode changed, beside the hunks
---@field hunk integer number of the hunk at the cursor, or of the last one above it
---@field hunks integer
---@field at? claude-code.ReviewHunk under the cursor
---@field name string

---@param buf integer
---@return claude-code.ReviewFile? of the list; also of a deleted one's old text
local function listed_file(buf)
  local deleted = base.file_of(buf)
  return deleted and listing.of_path(deleted) or listing.of_buffer(buf)
end

---@param win integer
---@return claude-code.ReviewPosition? nil: nothing to review there
local function position_in(win)
  local buf = api.nvim_win_get_buf(win)
  local file, found = listed_file(buf), buffers.hunks(buf)
  local whole = file and kinds.is_whole(file) and kinds.words(file) or nil
  if reload.is_stale(buf) then
    whole, found = file and "not in this buffer, which has unsaved edits" or nil, {}
  end
  if #found == 0 and not whole then
    return nil
  end
  local row, number = api.nvim_win_get_cursor(win)[1], 1
  for i, hunk in ipairs(found) do
    number = hunk.new[1] <= row + 1 and i or number
  end
  local name = file and file.path or api.nvim_buf_get_name(buf)
  local mode = not whole and file and file.mode
  return {
    at = buffers.hunk_at(buffers.hunks(buf), row),
    whole = whole,
    mode = mode and kinds.mode_words(mode) or nil,
    file = listing.number(file),
    files = #listing.files(),
    hunk = number,
    hunks = #found,
    name = vim.fn.fnamemodify(name, ":."),
  }
end

---@param position claude-code.ReviewPosition
---@return string
local function counts(position)
  local of_hunks = ("hunk %d/%d "):format(position.hunk, position.hunks)
  local of_files = ("file %d/%d "):format(position.file, position.files)
  return (position.whole and "" or of_hunks) .. (position.files > 1 and of_files or "")
end

---@param hunk claude-code.ReviewHunk under the cursor
---@return claude-code.BarPart?
local function warning(hunk)
  if hunk.queued then
    return { " undone when Claude's turn ends ", "Note" }
  elseif hunk.conflict then
    return { " your edits conflict ", "Warning" }
  elseif hunk.mixed then
    return { " with your edits ", "Note" }
  end
end

---@param room integer in cells
---@return claude-code.BarPart[]
local function hints(room)
  local list = {} ---@type claude-code.BarHint[]
  local options = require("claude-code.config").get().review.keys
  for _, hint in ipairs(HINTS) do
    local key = hunk_keys.of(options[hint[1]])[1]
    list[#list + 1] = key and { keys = key, words = hint[2] }
  end
  return winbar.hints(list, room)
end

---@param position claude-code.ReviewPosition
---@param width integer of the window, in cells
---@return string
local function text_for(position, width)
  -- Where it is too narrow for the rest, the beginning of the path gives way.
  local parts = { " %<", { position.name, "File" } } ---@type claude-code.BarPart[]
  if position.whole then
    parts[3] = { (" %s%s"):format(position.whole, position.files > 1 and "," or ""), "Note" }
  end
  table.insert(parts, { (" %s"):format(counts(position)), "Count" })
  local at = position.at
  if at then
    table.insert(parts, { ("+%d "):format(at.added), "Added" })
    table.insert(parts, { ("−%d "):format(at.removed), "Removed" })
  end
  if position.mode then
    table.insert(parts, { (" %s "):format(position.mode), "Note" })
  end
  table.insert(parts, at and warning(at))
  local room = width - winbar.width(parts) - 1
  table.insert(parts, "%=")
  vim.list_extend(parts, hints(room))
  return winbar.render(parts, highlights.name("")) .. " "
end

---Brings the bars of the tab page up to date with the cursors of its windows.
function M.update()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local is_plain = api.nvim_win_get_config(win).relative == "" and not vim.wo[win].diff
    local position = listing.review() and is_plain and position_in(win)
    if position then
      winbar.show(win, MARK, text_for(position, api.nvim_win_get_width(win)))
    else
      winbar.hide(win, MARK)
    end
  end
end

---Until `stop`.
function M.start()
  group = api.nvim_create_augroup("claude-code.review.bars", { clear = true })
  winbar.follow(group, M.update)
end

function M.stop()
  if group then
    api.nvim_del_augroup_by_id(group)
    group = nil
  end
  for _, win in ipairs(api.nvim_list_wins()) do
    winbar.hide(win, MARK)
  end
end

return M
