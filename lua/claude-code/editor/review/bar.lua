--- The bars ('winbar') of a review: the numbers of hunk and file, notes on the hunk under the cursor, and the keys.
local api = vim.api
local beside = require("claude-code.editor.review.beside")
local buffers = require("claude-code.editor.review.buffer")
local entries = require("claude-code.editor.review.entries")
local hunk_keys = require("claude-code.editor.changes.keys")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

---Begins each bar of a review; invisible.
local MARK = "%(%)"

local M = {}

---The most important last.
local HINTS = {
  { "help", "help" },
  { "next_hunk", "next" },
  { "next_file", "file" },
  { "comment", "comment" },
  { "undo", "undo", decides = true },
  { "keep", "keep", decides = true },
}

local function warning(hunk)
  if hunk.conflict then
    return { (" %s edits conflict "):format(entries.WHOSE[hunk.conflict]), "ClaudeCodeWarning" }
  elseif hunk.mixed then
    return { " with your edits ", "ClaudeCodeNote" }
  end
end

---The numbers of the file and of the hunk at the cursor, or the last one above it.
---@param whole? string words about a file that is one entry
local function counts(review, file, whole, hunks, row, is_short)
  local number = buffers.index_at(hunks, row)
  if number > 1 and (not hunks[number] or hunks[number].new[1] > row + 1) then
    number = number - 1
  end
  local of_hunks = whole and "" or ("hunk %d/%d "):format(number, #hunks)
  local of_files = ("file %d/%d "):format(file and file.number or 0, #review.files)
  return of_hunks .. (#review.files > 1 and not is_short and of_files or "")
end

---The bar without the keys; nil if nothing is reviewed there.
---@param is_short boolean without facts that the list has, too
local function parts_in(review, win, is_short)
  local buf = api.nvim_win_get_buf(win)
  local hunks = buffers.hunks(buf)
  local file = review.by_path[buffers.base_file(buf) or ""] or review:file_of(buf)
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
  local scope, owner = review.scope, file and not is_short and entries.owner_of(file, at and at.id)
  local turn = owner and owner.turn and "turn " .. owner.turn
  local name = file and file.path or api.nvim_buf_get_name(buf)
  -- A narrow bar cuts the beginning of the path.
  return winbar.parts(
    " %<",
    { path.title(name, ":."), "ClaudeCodeBarFile" },
    whole and { (" %s%s"):format(whole, #review.files > 1 and "," or ""), "ClaudeCodeNote" },
    { " " .. counts(review, file, whole, hunks, row, is_short), "ClaudeCodeBarCount" },
    at and not is_short and { ("+%d "):format(at.added), "ClaudeCodeAddSign" },
    at and not is_short and { ("−%d "):format(at.removed), "ClaudeCodeDeleteSign" },
    turn and { (" %s "):format(scope.scope == "turn" and scope.name or turn), "ClaudeCodeNote" },
    mode and { (" %s "):format(entries.mode_words(mode)), "ClaudeCodeNote" },
    at and at.ends and { (" %s "):format(at.ends), "ClaudeCodeNote" },
    at and warning(at)
  )
end

local function hints()
  local options = require("claude-code.config").get().review.keys
  return vim.tbl_map(function(hint)
    local is_needed = hint.decides or hint[1] == "help"
    local keys = { hunk_keys.of(options[hint[1]])[1] }
    return { keys = keys, words = hint[2], is_needed = is_needed, decides = hint.decides }
  end, HINTS)
end

---@return string? text nil if nothing is reviewed there
local function text_in(review, win)
  local parts = parts_in(review, win, false)
  if not parts then
    return nil
  end
  local width, found = api.nvim_win_get_width(win) - 1, hints()
  if width - winbar.width(parts) < winbar.width(winbar.hints(found, 0)) then
    parts = parts_in(review, win, true)
  end
  local shown = winbar.hints(found, width - winbar.width(parts))
  table.insert(parts, "%=")
  return winbar.render(vim.list_extend(parts, shown)) .. " "
end

---Updates the bars of the tab page for its cursors. Hides all bars unless the review is open.
function M.update(review)
  local wins = review.is_open and api.nvim_tabpage_list_wins(0) or api.nvim_list_wins()
  for _, win in ipairs(wins) do
    local is_plain = not windows.is_floating(win) and (not vim.wo[win].diff or beside.is_file(win))
    local text = review.is_open and is_plain and text_in(review, win)
    if text then
      winbar.show(win, MARK, text)
    else
      winbar.hide(win, MARK)
    end
  end
end

return M
