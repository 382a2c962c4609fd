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

---@param buf integer
---@return claude-code.ReviewFile? of the list; also of a deleted one's old text
local function listed_file(buf)
  local deleted = base.file_of(buf)
  return deleted and listing.of_path(deleted) or listing.of_buffer(buf)
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

---@param file claude-code.ReviewFile?
---@param whole? string what became of the file, if it is one entry
---@param hunks claude-code.ReviewHunk[]
---@param row integer of the cursor
---@return string "hunk 1/2 file 1/4 "
local function counts(file, whole, hunks, row)
  local number, files = 1, listing.files()
  for i, hunk in ipairs(hunks) do
    number = hunk.new[1] <= row + 1 and i or number
  end
  local of_hunks = whole and "" or ("hunk %d/%d "):format(number, #hunks)
  local of_files = ("file %d/%d "):format(listing.number(file), #files)
  return of_hunks .. (#files > 1 and of_files or "")
end

---@param win integer
---@return claude-code.BarPart[]? nil: nothing to review there
local function parts_in(win)
  local buf, row = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)[1]
  local file, hunks = listed_file(buf), buffers.hunks(buf)
  local whole = file and kinds.is_whole(file) and kinds.words(file) or nil
  if reload.is_stale(buf) then
    whole, hunks = file and "not in this buffer, which has unsaved edits" or nil, {}
  end
  if #hunks == 0 and not whole then
    return nil
  end
  local name = vim.fn.fnamemodify(file and file.path or api.nvim_buf_get_name(buf), ":.")
  -- Where it is too narrow for the rest, the beginning of the path gives way.
  local parts = { " %<", { name, "File" } } ---@type claude-code.BarPart[]
  local function add(format, text, group)
    parts[#parts + 1] = { format:format(text), group }
  end
  if whole then
    add(#listing.files() > 1 and " %s," or " %s", whole, "Note")
  end
  add(" %s", counts(file, whole, hunks, row), "Count")
  local at = buffers.hunk_at(hunks, row)
  if at then
    add("+%d ", at.added, "Added")
    add("−%d ", at.removed, "Removed")
  end
  if file and file.mode and not whole then
    add(" %s ", kinds.mode_words(file.mode), "Note")
  end
  parts[#parts + 1] = at and warning(at)
  return parts
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

---@param parts claude-code.BarPart[]
---@param width integer of the window, in cells
---@return string
local function text_of(parts, width)
  local room = width - winbar.width(parts) - 1
  parts[#parts + 1] = "%="
  return winbar.render(vim.list_extend(parts, hints(room)), highlights.name("")) .. " "
end

---Brings the bars of the tab page up to date with the cursors of its windows.
function M.update()
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local is_plain = api.nvim_win_get_config(win).relative == "" and not vim.wo[win].diff
    local parts = listing.review() and is_plain and parts_in(win)
    if parts then
      winbar.show(win, MARK, text_of(parts, api.nvim_win_get_width(win)))
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
