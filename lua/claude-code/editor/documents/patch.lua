--- Replaces a buffer's text by changing only the lines that differ: marks, signs, extmarks, folds, cursors and views
--- stay with their lines, and language servers receive only the changes.
local api = vim.api
local file_lines = require("claude-code.editor.documents.lines")
local sources = require("claude-code.editor.documents.sources")

---Hunks up to this size are aligned line by line, so that marks stay with the most similar line.
local LINEMATCH = 60
---If more lines change, whole hunks are set: each call costs every listener time.
local MAX_CHANGES = 2000

local M = {}

local namespace = api.nvim_create_namespace("claude-code.patch")

---@return table[] views of the buffer's windows; `top` and `cursor` are extmarks
local function save_views(buf)
  return vim.tbl_map(function(win)
    local view = api.nvim_win_call(win, vim.fn.winsaveview)
    return {
      win = win,
      view = view,
      top = api.nvim_buf_set_extmark(buf, namespace, view.topline - 1, 0, {}),
      cursor = api.nvim_buf_set_extmark(buf, namespace, view.lnum - 1, 0, {}),
      line = file_lines.at(buf, view.lnum - 1),
    }
  end, vim.fn.win_findbuf(buf))
end

---@param col integer 0-based byte in the old line
---@return integer col of the same text; if that text was changed, the same column
local function moved_column(col, old, new)
  local head, tail = file_lines.common(old, new)
  return col > head and col >= #old - tail and col + #new - #old or math.min(col, #new)
end

local function restore_views(buf, saved)
  local function row_of(mark)
    return api.nvim_buf_get_extmark_by_id(buf, namespace, mark, {})[1]
  end
  for _, entry in ipairs(saved) do
    local view, row = entry.view, row_of(entry.cursor)
    view.topline, view.lnum = row_of(entry.top) + 1, row + 1
    view.col = moved_column(view.col, entry.line, file_lines.at(buf, row))
    api.nvim_win_call(entry.win, function()
      vim.fn.winrestview(view)
    end)
  end
  api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
end

---@return vim.fn.getmarklist.ret.item[] marks 'a to 'z and 'A to 'Z on this line
local function marks_on(buf, row)
  local marks = vim.list_extend(vim.fn.getmarklist(buf), vim.fn.getmarklist())
  return vim.tbl_filter(function(mark)
    return mark.mark:find("^'%a$") ~= nil and mark.pos[1] == buf and mark.pos[2] == row + 1
  end, marks)
end

---Changes one line in place: nvim_buf_set_lines() would delete its marks.
local function change_line(buf, row, old, new)
  -- TODO(0.10): nvim_buf_set_text() deletes them, too.
  local marks = vim.fn.has("nvim-0.11") == 0 and marks_on(buf, row) or {}
  local head, tail = file_lines.common(old, new)
  local text = new:sub(head + 1, #new - tail)
  api.nvim_buf_set_text(buf, row, head, row, #old - tail, { text })
  for _, mark in ipairs(marks) do
    local col = math.min(mark.pos[3] - 1, #new)
    api.nvim_buf_set_mark(buf, mark.mark:sub(2), row + 1, col, {})
  end
end

local function compare(change, range, linematch)
  local old = vim.list_slice(change.old, range.row + 1, range.row + range.old)
  local new = vim.list_slice(change.new, range.from + 1, range.from + range.new)
  local found = file_lines.hunks(old, new, linematch)
  for _, hunk in ipairs(found) do
    hunk.row, hunk.from = hunk.row + range.row, hunk.from + range.from
  end
  return found
end

---@return claude-code.LineHunk[] from the top down
---@return boolean by_line lines may be changed one by one
local function hunks(change)
  local head, tail = change.head, change.tail
  local whole = { row = head, old = #change.old - tail - head }
  whole.from, whole.new = head, #change.new - tail - head
  if whole.old == 0 or whole.new == 0 then
    return { whole }, true
  end
  local list, changes = {}, 0
  for _, hunk in ipairs(compare(change, whole)) do
    changes = changes + math.max(hunk.old, hunk.new)
    local is_even = hunk.old == hunk.new or hunk.old == 0 or hunk.new == 0
    -- Asked for the whole text, Neovim would also align hunks with equal numbers of lines, ten times as slowly.
    local is_aligned = is_even or hunk.old + hunk.new > LINEMATCH or changes > MAX_CHANGES
    vim.list_extend(list, is_aligned and { hunk } or compare(change, hunk, LINEMATCH))
  end
  return #list <= MAX_CHANGES and list or { whole }, changes <= MAX_CHANGES
end

local function apply(buf, hunk, change, by_line)
  local old, new = change.old, change.new
  local paired = by_line and math.min(hunk.old, hunk.new) or 0
  if paired < math.max(hunk.old, hunk.new) then
    local more = vim.list_slice(new, hunk.from + paired + 1, hunk.from + hunk.new)
    api.nvim_buf_set_lines(buf, hunk.row + paired, hunk.row + hunk.old, true, more)
  end
  for i = paired, 1, -1 do
    local row = hunk.row + i
    if old[row] ~= new[hunk.from + i] then
      change_line(buf, row - 1, old[row], new[hunk.from + i])
    end
  end
end

---Ends the open undo step, so that |u| takes back only the next edit.
function M.break_undo(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

---Changes a buffer's lines to the new ones, in one undo step. Throws if Neovim refuses it (E565).
---@param buf integer loaded, modifiable
---@param change claude-code.FileChange from the buffer's current lines
function M.apply(buf, change)
  if change.head == #change.old and change.head == #change.new then
    return
  end
  local list, by_line = hunks(change)
  M.break_undo(buf)
  local views = save_views(buf)
  for i = #list, 1, -1 do
    apply(buf, list[i], change, by_line)
  end
  M.break_undo(buf)
  restore_views(buf, views)
end

---Applies lines of a file, even to a buffer that is read-only (W10) or not modifiable.
---@param file string real path
---@return boolean ok, any message
function M.from_file(buf, change, file)
  local options = vim.bo[buf]
  local readonly, modifiable = options.readonly, options.modifiable
  options.readonly, options.modifiable = false, true
  local ok, message = pcall(function()
    sources.on_lines_read(buf, file)
    M.apply(buf, change)
    options.endofline = change.endofline
  end)
  options.readonly, options.modifiable = readonly, modifiable
  return ok, message
end

---Lets other plugins know that the buffer has been reloaded.
function M.emit_changed(buf)
  pcall(api.nvim_exec_autocmds, "FileChangedShellPost", { buffer = buf, modeline = false })
end

return M
