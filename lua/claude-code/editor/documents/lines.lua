--- Converts between the bytes of a file (byte order mark, line ends) and lines as nvim_buf_get_lines() returns them, in
--- UTF-8; and compares lines.
local api = vim.api

local BOM = "\239\187\191"
local LINE_ENDS = { dos = "\r\n", mac = "\r", unix = "\n" }

local M = {
  -- TODO(0.11): vim.diff has this name from 0.12 on.
  diff = vim.text and vim.text.diff or vim.diff,
}

---@class claude-code.Text
---@field lines string[] at least one
---@field crlf boolean every line end is CRLF; otherwise a CR is part of its line
---@field bom boolean
---@field newline boolean the last line ends with a newline

---Does the text have line ends, and is each one CRLF?
function M.is_crlf(text)
  -- The pattern "[^\r]\n" takes 30 ms for a line of 1 MB.
  local first = text:find("\n", 1, true)
  local at = first
  while at and text:byte(at - 1) == 13 do
    at = text:find("\n", at + 1, true)
  end
  return first ~= nil and at == nil
end

---@param text string UTF-8, any line ends
---@param keep_cr? boolean a CR is always part of its line
---@return claude-code.Text
function M.parse(text, keep_cr)
  local bom = text:sub(1, #BOM) == BOM
  if bom then
    text = text:sub(#BOM + 1)
  end
  local crlf = not keep_cr and M.is_crlf(text)
  local eol = crlf and "\r\n" or "\n"
  local newline = text:sub(-1) == "\n"
  local lines = vim.split(newline and text:sub(1, -#eol - 1) or text, eol, { plain = true })
  return { lines = lines, crlf = crlf, bom = bom, newline = newline }
end

---@param like { crlf: boolean, bom: boolean }
---@param newline boolean does the last line end with one?
function M.join(lines, like, newline)
  local eol = like.crlf and "\r\n" or "\n"
  return (like.bom and BOM or "") .. table.concat(lines, eol) .. (newline and eol or "")
end

function M.are_same(a, b)
  if a == b then
    return true
  elseif #a ~= #b then
    return false
  end
  -- vim.deep_equal() takes 10 ms for 20,000 lines.
  for i, line in ipairs(a) do
    if line ~= b[i] then
      return false
    end
  end
  return true
end

---@class claude-code.LineHunk rows 0-based
---@field row integer in the old lines
---@field old integer number of old lines
---@field from integer row in the new lines
---@field new integer number of new lines

local function joined(lines)
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

---@param linematch? integer hunks up to this size are aligned line by line
---@return claude-code.LineHunk[] from the top down
function M.hunks(old, new, linematch)
  local options = { result_type = "indices", linematch = linematch }
  return vim.tbl_map(function(hunk)
    local row, count, from, added = unpack(hunk)
    -- If a side has no lines, Neovim gives the line before them.
    row, from = count > 0 and row - 1 or row, added > 0 and from - 1 or from
    return { row = row, old = count, from = from, new = added }
  end, M.diff(joined(old), joined(new), options) --[[@as integer[][] ]])
end

---@return integer head length of the common beginning, in bytes of whole characters
---@return integer tail length of the common end after it
function M.common(old, new)
  local most, head, tail = math.min(#old, #new), 0, 0
  while head < most and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  if head < #old then
    head = head + vim.str_utf_start(old, head + 1)
  elseif head < #new then
    head = head + vim.str_utf_start(new, head + 1)
  end
  while tail < most - head and old:byte(#old - tail) == new:byte(#new - tail) do
    tail = tail + 1
  end
  while tail > 0 and vim.str_utf_start(old, #old - tail + 1) < 0 do
    tail = tail - 1
  end
  return head, tail
end

---@param row integer 0-based
---@return string line "" after the last one
function M.at(buf, row)
  return api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ""
end

---@param lines string[] all its lines: an empty buffer has one empty line, as does one with just a line end
---@return boolean is_empty `:w` would write no byte
function M.is_empty(buf, lines)
  -- line2byte() and nvim_buf_get_offset() are wrong after lines were deleted.
  return #lines == 1
    and lines[1] == ""
    and api.nvim_buf_call(buf, function()
      return vim.fn.wordcount().bytes == 0
    end)
end

---@return "unix"|"dos"|"mac" format of the file that `:w` would write: 'binary' ignores 'fileformat'
function M.format(buf)
  return vim.bo[buf].binary and "unix" or vim.bo[buf].fileformat
end

---@param as_read? boolean leaves out the last line end that 'fixendofline' would add
---@return string bytes that `:w` would write, but always in UTF-8
function M.bytes(buf, as_read)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local options = vim.bo[buf]
  local bom = options.bomb and BOM or ""
  if M.is_empty(buf, lines) then
    return bom
  end
  local eol = LINE_ENDS[M.format(buf)]
  local ends = options.endofline or (not as_read and options.fixendofline and not options.binary)
  return bom .. table.concat(lines, eol) .. (ends and eol or "")
end

return M
