--- The cursor of a review: keys and decisions move it from hunk to hunk and from file to file, in files and in the
--- quickfix window.
local api = vim.api
local beside = require("claude-code.editor.review.beside")
local buffers = require("claude-code.editor.review.buffer")
local entries = require("claude-code.editor.review.entries")
local lists = require("claude-code.editor.review.list")
local documents = require("claude-code.editor.documents")
local marks = require("claude-code.editor.review.marks")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local windows = require("claude-code.editor.windows")

local M = {}

---The place of the user's last decision, or the place to which the decision has moved the cursor.
local place ---@type { win: integer, buf: integer, row: integer, entry: integer }

local function here()
  local win = api.nvim_get_current_win()
  return {
    win = win,
    buf = api.nvim_win_get_buf(win),
    row = api.nvim_win_get_cursor(win)[1],
    -- `:cdo` finds several in one row.
    entry = vim.fn.getqflist({ idx = 0 }).idx,
  }
end

function M.remember_place()
  place = here()
end

---@return boolean has the user left the window or the buffer of that place?
function M.has_left()
  return api.nvim_get_current_win() ~= place.win or api.nvim_get_current_buf() ~= place.buf
end

---@return boolean has the user moved the cursor from that place?
function M.has_moved()
  return not vim.deep_equal(place, here())
end

---Runs work that moves the cursor from that place, or edits the text there, and updates the place. Reports an error,
---such as one of the user's autocommands.
---@param work fun(): any
---@return any
function M.track(work)
  local from = here()
  local ok, result = pcall(work)
  local now = here()
  local was_there = place and place.win == from.win and place.buf == from.buf
  if was_there and (place.row == from.row or now.buf ~= from.buf) then
    place = now
  end
  if not ok then
    notify.error(tostring(result))
    return nil
  end
  return result
end

local function reveal()
  local win = api.nvim_get_current_win()
  marks.reveal(win, buffers.hunks(api.nvim_win_get_buf(win)))
end

local function go(row)
  vim.cmd("normal! m'")
  local last = api.nvim_buf_line_count(0)
  api.nvim_win_set_cursor(0, { math.min(math.max(row, 1), last), 0 })
  vim.cmd("normal! zv")
  reveal()
end

---Finds the next element after `from`, or before it, in order of their places.
local function next_from(all, step, from, place_of)
  for i = step == 1 and 1 or #all, step == 1 and #all or 1, step do
    local at = place_of(all[i])
    if at ~= from and (at > from) == (step == 1) then
      return all[i]
    end
  end
end

local function first_row(hunk)
  return math.max(hunk.new[1], 1)
end

---Finds the next file by path, also from one that has left the list.
---@param from? string path; the current buffer's if left out
local function next_file(review, step, from)
  local all, buf = review.files, api.nvim_get_current_buf()
  local shown = review:file_of(buf)
  local now = from or shown and shown.path or buffers.base_file(buf) or path.of_buffer(buf) or ""
  local found = next_from(all, step, now, function(file)
    return file.path
  end)
  return found or (step == 1 and all[1] or all[#all])
end

---Shows a buffer. Neovim does not ask about a swap file (E325): the question would take the next keys.
---@param win? integer nil: beside the special ones
---@return boolean shown in the current window
local function show(buf, win)
  local ok, is_shown = pcall(notify.guard, function()
    documents.load_buffer(buf)
    vim.bo[buf].buflisted = true
    documents.without_question(function()
      api.nvim_set_current_win(windows.bring(buf, win))
    end)
  end)
  if not ok then
    notify.error(tostring(is_shown))
  end
  return ok and is_shown
end

local function open(review, file, hunk)
  local name = buffers.shown_name(file)
  if api.nvim_buf_get_name(0) ~= name then
    beside.close()
  end
  local win = api.nvim_get_current_win()
  win = buffers.base_file(api.nvim_win_get_buf(win)) and win or windows.for_file()
  if api.nvim_buf_get_name(0) ~= name and not show(vim.fn.bufadd(name), win) then
    return
  end
  go(hunk and hunk.new[1] or 1)
  review.list:select(file.path, hunk and hunk.id)
end

---Moves from the quickfix window to an entry.
---@param _ claude-code.Review
function M.entry(_, row)
  local buf = vim.fn.getqflist({ idx = row, items = 0 }).items[1].bufnr
  beside.close(buf)
  -- Neovim might choose a terminal's window.
  if show(buf, windows.for_file(buf)) then
    vim.cmd.cc({ count = row })
    vim.cmd("normal! zv")
    reveal()
  end
end

---Shows an entry in a window beside the list, which keeps the cursor.
function M.show_entry(review, row)
  local win = api.nvim_get_current_win()
  M.entry(review, row)
  api.nvim_set_current_win(win)
  api.nvim_win_set_cursor(win, { row, 0 })
end

---Shows the first wanted entry at or after a row, and wraps around the end of the list.
local function show_entry_from(review, row, step, is_wanted)
  local list = review.list
  local count = list:get("size") or 0
  for i = 0, count - 1 do
    local at = (row - 1 + step * i) % count + 1
    local entry = list:entry(at)
    if entry and not entries.is_folder(entry) and is_wanted(entry) then
      return M.show_entry(review, at)
    end
  end
end

---@param step 1|-1
---@param from? string path; the current buffer's if left out
function M.file(review, step, from)
  if review.list:has_cursor() then
    local row = api.nvim_win_get_cursor(0)[1]
    local left = review.list:entry(row)
    return show_entry_from(review, row + step, step, function(entry)
      return not left or entry.path ~= left.path
    end)
  end
  local file = next_file(review, step, from)
  if not file then
    return notify.info("there is nothing left to review")
  end
  open(review, file, file.hunks[step == -1 and #file.hunks or 1])
end

---Moves to the next hunk; after the last one of a file, to the next file.
---@param step 1|-1
function M.hunk(review, step)
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  if review.list:has_cursor() then
    return show_entry_from(review, row + step, step, function()
      return true
    end)
  end
  local shown, file = buffers.get(buf), review:file_of(buf)
  -- The executable has not yet sent the hunks of a file that was just opened.
  local hunks = (not shown or not shown.tick) and file and file.hunks or buffers.hunks(buf)
  local hunk = next_from(hunks, step, row, first_row)
  if not hunk then
    return M.file(review, step)
  end
  go(first_row(hunk))
  if file then
    review.list:select(file.path, hunk.id)
  end
end

---After a decision in the list, shows the next undecided entry.
---@param first integer row of the first entry that was decided
---@param decided table<string, true> keys of the entries
function M.to_next_entry(review, first, decided)
  if review.list:has_cursor() then
    show_entry_from(review, first, 1, function(entry)
      return not decided[lists.key(entry)]
    end)
  end
end

---After a decision was taken back, moves to the first entry that this reopens.
---@param before table<string, integer> rows of the entries that were there, by their keys
function M.to_reopened(review, paths, before)
  for row, item in ipairs(review.list.items) do
    local entry = item.user_data.claude_code
    if vim.list_contains(paths, entry.path) and not before[lists.key(entry)] then
      if review.list:has_cursor() then
        return M.show_entry(review, row)
      end
      local file = review.by_path[entry.path]
      local hunk = vim.iter(file.hunks):find(function(one)
        return one.id == entry.hunk
      end)
      return open(review, file, hunk)
    end
  end
end

---After a decision, moves to the hunk at the cursor or below it, or to the next file.
---@param from? string path of a file whose buffer is gone
function M.to_next(review, from)
  if #review.files == 0 then
    return
  elseif from then
    return M.file(review, 1, from)
  end
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  if not buffers.hunk_at(buffers.hunks(buf), row) then
    M.hunk(review, 1)
  end
end

return M
