--- The bars ('winbar') above the files of a review: which hunk of how many, which file, what to know about
--- the hunk under the cursor, and the keys.
local api = vim.api
local base = require("claude-code.editor.review.base")
local buffers = require("claude-code.editor.review.buffer")
local highlights = require("claude-code.editor.hunks.highlights")
local hunk_keys = require("claude-code.editor.hunks.keys")
local entries = require("claude-code.editor.review.entries")
local listing = require("claude-code.editor.review.listing")
local reload = require("claude-code.editor.documents.reload")
local winbar = require("claude-code.editor.windows.winbar")

---Shows nothing, and begins each bar of a review.
local MARK = "%(%)"

---The most important last.
local HINTS = {
  { "help", "help" },
  { "next_hunk", "next" },
  { "next_file", "file" },
  { "comment", "comment" },
  { "undo", "undo" },
  { "keep", "keep" },
}

local M = {}

---@return claude-code.ReviewFile? of the list; also of a deleted one's old text
local function listed_file(buf)
  local deleted = base.file_of(buf)
  return deleted and listing.of_path(deleted) or listing.of_buffer(buf)
end

---@param hunk claude-code.ReviewHunk under the cursor
---@return claude-code.BarPart?
local function warning(hunk)
  if hunk.conflict then
    return { (" %s edits conflict "):format(listing.WHOSE[hunk.conflict]), "Warning" }
  elseif hunk.mixed then
    return { " with your edits ", "Note" }
  end
end

---@param file? claude-code.ReviewFile
---@param whole? string what became of the file, if it is one entry
---@param hunks claude-code.ReviewHunk[]
---@param row integer of the cursor
---@return string words which hunk of the file it is, or the last one above the cursor, and which file
local function counts(file, whole, hunks, row)
  local number, files_count = 1, #listing.files()
  for i, hunk in ipairs(hunks) do
    number = hunk.new[1] <= row + 1 and i or number
  end
  local of_hunks = whole and "" or ("hunk %d/%d "):format(number, #hunks)
  local of_files = ("file %d/%d "):format(listing.number(file), files_count)
  return of_hunks .. (files_count > 1 and of_files or "")
end

---@return claude-code.BarPart[]? parts without the keys; nil if nothing is reviewed there
local function parts_in(win)
  local buf = api.nvim_win_get_buf(win)
  local file, hunks = listed_file(buf), buffers.hunks(buf)
  local whole = file and entries.is_whole(file) and entries.words(file) or nil
  if reload.is_stale(buf) then
    whole, hunks = file and "not in this buffer, which has unsaved edits" or nil, {}
  end
  if #hunks == 0 and not whole then
    return nil
  end
  local row = api.nvim_win_get_cursor(win)[1]
  local at = buffers.hunk_at(hunks, row)
  local mode = not whole and file and file.mode
  local name = file and file.path or api.nvim_buf_get_name(buf)
  -- Where it is too narrow for the rest, the beginning of the path gives way.
  return winbar.parts(
    " %<",
    { vim.fn.fnamemodify(name, ":."), "File" },
    whole and { (" %s%s"):format(whole, #listing.files() > 1 and "," or ""), "Note" },
    { " " .. counts(file, whole, hunks, row), "Count" },
    at and { ("+%d "):format(at.added), "Added" },
    at and { ("−%d "):format(at.removed), "Removed" },
    mode and { (" %s "):format(entries.mode_words(mode)), "Note" },
    at and warning(at)
  )
end

---@param parts claude-code.BarPart[]
---@param width integer of the window, in cells
local function with_keys(parts, width)
  local options = require("claude-code.config").get().review.keys
  local hints = {}
  for _, hint in ipairs(HINTS) do
    hints[#hints + 1] = { keys = { hunk_keys.of(options[hint[1]])[1] }, words = hint[2] }
  end
  local room = width - winbar.width(parts) - 1
  table.insert(parts, "%=")
  vim.list_extend(parts, winbar.hints(hints, room))
  return winbar.render(parts, highlights.name("")) .. " "
end

---Brings the bars of the tab page up to date with the cursors of its windows.
function M.update()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local is_plain = api.nvim_win_get_config(win).relative == "" and not vim.wo[win].diff
    local parts = listing.review() and is_plain and parts_in(win)
    if parts then
      winbar.show(win, MARK, with_keys(parts, api.nvim_win_get_width(win)))
    else
      winbar.hide(win, MARK)
    end
  end
end

---@return integer group of the autocommands, none of which is left
local function new_group()
  return api.nvim_create_augroup("claude-code.review.bars", { clear = true })
end

---Until `stop`.
function M.start()
  winbar.follow(new_group(), M.update)
end

function M.stop()
  new_group()
  for _, win in ipairs(api.nvim_list_wins()) do
    winbar.hide(win, MARK)
  end
end

return M
