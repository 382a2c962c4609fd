--- Texts between buffers and the executable: to the byte as `:w` would write them.
local api = vim.api
local file_change = require("claude-code.editor.documents.file_change")
local patch = require("claude-code.editor.documents.patch")
local reload = require("claude-code.editor.documents.reload")
local text = require("claude-code.editor.documents.text")

local BOM = "\239\187\191"

local M = {}

---@param buf integer
---@return string encoding of its file
local function encoding(buf)
  local name = vim.bo[buf].fileencoding
  return name ~= "" and name or "utf-8"
end

---Was 'fileformat' set after the file was read (by .editorconfig)? `:w` then changes all line ends,
---which is no edit of the user's yet.
---@param buf integer
---@return boolean
local function has_other_line_ends(buf)
  return not vim.bo[buf].modified and file_change.is_misread(buf)
end

---The buffer's text in the file's encoding, in base64. A missing last line end is no edit of the
---user's until Neovim has written one. Nil where the disk counts: for line ends that rows cannot have,
---and unsaved edits of an older text than Claude has changed.
---@param buf integer loaded
---@return string?
function M.encoded(buf)
  local is_mac = vim.bo[buf].fileformat == "mac"
  if is_mac or reload.is_stale(buf) or has_other_line_ends(buf) then
    return nil
  end
  local bytes = text.of(buf, true)
  if encoding(buf) ~= "utf-8" then
    bytes = vim.iconv(bytes, "utf-8", encoding(buf)) or bytes
  end
  return vim.base64.encode(bytes)
end

---Rows of a file as the buffer has them.
---@param buf integer
---@param rows string[] bytes
---@param first integer the row of the first one, from 1
---@return string[]
function M.rows(buf, rows, first)
  local is_dos = vim.bo[buf].fileformat == "dos" or has_other_line_ends(buf)
  local from = encoding(buf)
  local lines = {}
  for i, row in ipairs(rows) do
    if is_dos then
      row = row:gsub("\r$", "")
    end
    if first + i - 1 == 1 and vim.startswith(row, BOM) and vim.bo[buf].bomb then
      row = row:sub(#BOM + 1)
    end
    if from ~= "utf-8" then
      row = vim.iconv(row, from, "utf-8") or row
    end
    -- Neovim holds a NUL as a line feed.
    lines[i] = row:gsub("%z", "\n")
  end
  return lines
end

---@class claude-code.ReviewEdit rows of the text that was sent, bytes without "\n"
---@field first integer from 1; with count 0 the row before which the lines go
---@field count integer
---@field expected string[]
---@field lines string[]

---@param buf integer
---@param old string[]
---@param edits claude-code.ReviewEdit[] from the last to the first
---@return string[]? new nil if another text stands there
local function edited(buf, old, edits)
  local new = vim.list_slice(old)
  for _, edit in ipairs(edits) do
    local expected = M.rows(buf, edit.expected, edit.first)
    local is_there = vim.list_slice(old, edit.first, edit.first + edit.count - 1)
    if not vim.deep_equal(expected, is_there) then
      return nil
    end
    local after = vim.list_slice(new, edit.first + edit.count)
    new = vim.list_slice(new, 1, edit.first - 1)
    vim.list_extend(new, M.rows(buf, edit.lines, edit.first))
    vim.list_extend(new, after)
  end
  return new
end

---@param buf integer
---@return string[] lines none of an empty file
local function lines_of(buf)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  return text.is_empty(buf, lines) and {} or lines
end

---Applies edits as one undo step. The file is written if the buffer had no unsaved changes; another
---Neovim may have done the same to it a moment ago.
---@param buf integer loaded
---@param edits claude-code.ReviewEdit[] from the last to the first
---@param eol boolean whether the last line then has a line end
---@return string? problem a sentence for the user; then the buffer is as it was
---@return boolean? written
function M.apply(buf, edits, eol)
  local old = lines_of(buf)
  local new = edited(buf, old, edits)
  local was_clean = not vim.bo[buf].modified
  if was_clean then
    reload.check(buf)
  end
  local now = lines_of(buf)
  if new and was_clean and vim.deep_equal(now, new) then
    return nil, true
  elseif not new or not vim.deep_equal(now, old) then
    return "its text has changed in the meantime; look at it again"
  elseif not vim.bo[buf].modifiable then
    return "its buffer is not modifiable"
  end
  local whole = api.nvim_buf_get_lines(buf, 0, -1, false)
  patch.apply(buf, file_change.between(whole, #new > 0 and new or { "" }, eol))
  vim.bo[buf].endofline = eol
  if not eol then
    vim.bo[buf].fixendofline = false
  end
  return nil, was_clean and M.write(buf)
end

---@param buf integer
---@return boolean written
function M.write(buf)
  local ok, message = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("silent lockmarks write")
  end)
  if not ok then
    local notify = require("claude-code.messages.notify")
    notify.warn(("the change is in the buffer, and could not be written: %s"):format(message))
  end
  return ok
end

return M
