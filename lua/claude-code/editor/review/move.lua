--- From hunk to hunk and from file to file, also in the quickfix window.
local api = vim.api
local buffers = require("claude-code.editor.review.buffer")
local listing = require("claude-code.editor.review.listing")
local list = require("claude-code.editor.review.list")
local loading = require("claude-code.editor.documents.load")
local marks = require("claude-code.editor.review.marks")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local windows = require("claude-code.editor.windows")

local M = {}

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

---@return any of those that are in order of their places the next one behind `from`, or before it
local function next_from(all, step, from, place_of)
  for i = step == 1 and 1 or #all, step == 1 and #all or 1, step do
    local place = place_of(all[i])
    if place ~= from and (place > from) == (step == 1) then
      return all[i]
    end
  end
end

---@return integer row of the cursor at a hunk's beginning
local function first_row(hunk)
  return math.max(hunk.new[1], 1)
end

---@param from? string path; the current buffer's if left out
---@return claude-code.ReviewFile? the next in order of the paths, also from a file that left the list
local function next_file(step, from)
  local all, buf = listing.files, api.nvim_get_current_buf()
  local shown = listing.of_buffer(buf)
  local now = from or shown and shown.path or listing.base_file(buf) or path.of_buffer(buf) or ""
  local found = next_from(all, step, now, function(file)
    return file.path
  end)
  return found or (step == 1 and all[1] or all[#all])
end

---Shows a buffer without the question about a swap file (E325): keys that are typed next are about hunks.
---@param win? integer nil: beside the special ones
---@return boolean shown in the current window
local function show(buf, win)
  local ok, is_shown = pcall(notify.guard, function()
    loading.load(buf)
    vim.bo[buf].buflisted = true
    loading.without_question(function()
      api.nvim_set_current_win(windows.bring(buf, win))
    end)
  end)
  if not ok then
    notify.error(tostring(is_shown))
  end
  return ok and is_shown
end

local function open(file, hunk)
  local name, here = listing.shown_name(file), api.nvim_get_current_win()
  local win = listing.base_file(api.nvim_win_get_buf(here)) and here or windows.for_file()
  if api.nvim_buf_get_name(0) ~= name and not show(vim.fn.bufadd(name), win) then
    return
  end
  go(hunk and hunk.new[1] or 1)
  list.select(file.path, hunk and hunk.id)
end

---From the quickfix window to an entry.
---@param row integer
function M.entry(row)
  local buf = vim.fn.getqflist()[row].bufnr
  -- Neovim itself would take a terminal's.
  if show(buf, windows.for_file(buf)) then
    vim.cmd.cc({ count = row })
    vim.cmd("normal! zv")
    reveal()
  end
end

---Shows an entry of the list in a window beside it; the list keeps the cursor.
---@param row integer
function M.show_entry(row)
  local win = api.nvim_get_current_win()
  M.entry(row)
  api.nvim_set_current_win(win)
  api.nvim_win_set_cursor(win, { row, 0 })
end

---Shows the next entry of the list that is not the same; behind the last one the first, as from file to file.
local function show_next_entry(step, is_same)
  local entries, row = list.entries(1, math.huge), api.nvim_win_get_cursor(0)[1]
  local from = entries[row]
  for _ = 1, #entries do
    row = (row + step - 1) % #entries + 1
    if not from or not is_same(from, entries[row]) then
      break
    end
  end
  if entries[row] then
    M.show_entry(row)
  end
end

---@param step 1|-1
---@param from? string path; the current buffer's if left out
function M.file(step, from)
  if list.has_cursor() then
    return show_next_entry(step, function(entry, other)
      return entry.path == other.path
    end)
  end
  local file = next_file(step, from)
  if not file then
    return notify.info("there is nothing left to review")
  end
  open(file, file.hunks[step == -1 and #file.hunks or 1])
end

---To the next hunk; after the last one of a file to the next file.
---@param step 1|-1
function M.hunk(step)
  if list.has_cursor() then
    return show_next_entry(step, rawequal)
  end
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  local shown, file = buffers.get(buf), listing.of_buffer(buf)
  -- Those of a file that was opened just now are still to come.
  local hunks = (not shown or not shown.tick) and file and file.hunks or buffers.hunks(buf)
  local hunk = next_from(hunks, step, row, first_row)
  if not hunk then
    return M.file(step)
  end
  go(first_row(hunk))
  if file then
    list.select(file.path, hunk.id)
  end
end

---After a decision in the list: its next entry that was not decided, shown beside it; behind the last one the first.
---@param first integer row of the first entry that was decided
---@param decided table<string, true> as `list.keys` gives them
function M.onward_in_list(first, decided)
  local entries, row = list.entries(1, math.huge), nil
  for i = #entries, 1, -1 do
    local is_left = not decided[list.key(entries[i])]
    if is_left and (i >= first or not row or row < first) then
      row = i
    end
  end
  if row and list.has_cursor() then
    M.show_entry(row)
  end
end

---After a decision was taken back: to the first entry that it has reopened.
---@param paths string[]
---@param before table<string, true> entries that were there, as `list.keys` gives them
function M.to_reopened(paths, before)
  for row, entry in ipairs(list.entries(1, math.huge)) do
    if vim.list_contains(paths, entry.path) and not before[list.key(entry)] then
      if list.has_cursor() then
        return M.show_entry(row)
      end
      local file = listing.by_path[entry.path] --[[@as claude-code.ReviewFile]]
      local hunk = vim.iter(file.hunks):find(function(one)
        return one.id == entry.hunk
      end)
      return open(file, hunk)
    end
  end
end

---After a decision: the hunk that stands where the cursor is, or below it; else the next file.
---@param from? string path of a file that is gone, and its buffer
function M.onward(from)
  if from and #listing.files > 0 then
    return M.file(1, from)
  end
  local buf, row = api.nvim_get_current_buf(), api.nvim_win_get_cursor(0)[1]
  local here = buffers.hunk_at(buffers.hunks(buf), row)
  if not here and #listing.files > 0 then
    M.hunk(1)
  end
end

return M
