--- The text of an open buffer as `:w` would write it: line ends, last newline and unsaved changes.
local path = require("claude-code.editor.documents.path")

local BOM = "\239\187\191"
local LINE_ENDS = { dos = "\r\n", mac = "\r", unix = "\n" }

local M = {}

---Would `:w` write nothing at all? An empty buffer shows one empty line, as one with a line end does.
---@param buf integer loaded
---@param lines string[] all its lines
---@return boolean
function M.is_empty(buf, lines)
  if #lines > 1 or lines[1] ~= "" then
    return false
  end
  -- line2byte() and nvim_buf_get_offset() are wrong after lines were deleted.
  return vim.api.nvim_buf_call(buf, function()
    return vim.fn.wordcount().bytes == 0
  end)
end

---Some lines of the buffer in UTF-8, whatever its 'fileencoding', with their line ends.
---@param buf integer loaded
---@param first integer row, 0-based
---@param last integer row behind them; -1: all
---@param as_read? boolean without the last line end that 'fixendofline' will add
---@return string
function M.part(buf, first, last, as_read)
  local lines = vim.api.nvim_buf_get_lines(buf, first, last, false)
  local options = vim.bo[buf]
  local bom = first == 0 and options.bomb and BOM or ""
  local has_end = first + #lines >= vim.api.nvim_buf_line_count(buf)
  if first == 0 and has_end and M.is_empty(buf, lines) then
    return bom
  end
  local eol = LINE_ENDS[options.fileformat]
  local ends = not has_end
    or options.endofline
    or (not as_read and options.fixendofline and not options.binary)
  return bom .. table.concat(lines, eol) .. (ends and eol or "")
end

---The buffer's text in UTF-8, whatever its 'fileencoding'.
---@param buf integer loaded
---@param as_read? boolean without the last line end that 'fixendofline' will add
---@return string
function M.of(buf, as_read)
  return M.part(buf, 0, -1, as_read)
end

---So many lines without a look at the clock, and so long one call may read, in ms.
local LINES, READ_MS = 500, 10

---A part of an open buffer's text: as much as can be read in a moment, so that keys need not wait.
---@param params { path: string, from: integer } from: 0-based line
---@return { text: string, tick: integer, next?: integer }? part next: line of the next part, nil at the
--- end; tick: b:changedtick, by which parts belong together
---@return claude-code.Failure?
function M.read(params)
  local buf = path.loaded_buffer(params.path)
  if not buf then
    return nil, { code = "not_open", message = "Document not open: " .. params.path }
  end
  local count, till = vim.api.nvim_buf_line_count(buf), vim.uv.hrtime() + READ_MS * 1e6
  local parts, row = {}, params.from
  repeat
    parts[#parts + 1] = M.part(buf, row, row + LINES)
    row = row + LINES
  until row >= count or vim.uv.hrtime() > till
  return {
    text = table.concat(parts),
    tick = vim.api.nvim_buf_get_changedtick(buf),
    next = row < count and row or nil,
  }
end

return M
