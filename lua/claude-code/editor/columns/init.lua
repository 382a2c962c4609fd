--- Columns of a line: Neovim counts bytes, clients and language servers in the encodings of LSP. Lines and columns are
--- 0-based here.

---TODO(0.10): the functions take no name of an encoding.
local has_encoding_argument = vim.fn.has("nvim-0.11") == 1

local M = {}

---@alias claude-code.Encoding "utf-8"|"utf-16"|"utf-32" what a column counts: bytes, code units, or characters

---A check by a pattern for other characters than ASCII would take twenty times as long.
---@return integer characters
function M.count(text)
  if has_encoding_argument then
    return vim.str_utfindex(text, "utf-32")
  end
  return (vim.str_utfindex(text))
end

---@param byte integer byte column; beyond the end means the end
---@param encoding claude-code.Encoding of the result
---@return integer column
function M.of_byte(line, byte, encoding)
  byte = math.max(0, math.min(byte, #line))
  if byte == 0 or encoding == "utf-8" then
    return byte
  elseif encoding == "utf-32" then
    return M.count(line:sub(1, byte))
  elseif has_encoding_argument then
    return vim.str_utfindex(line, "utf-16", byte, false)
  end
  local _, utf16 = vim.str_utfindex(line, byte)
  return utf16
end

---@param column integer beyond the end means the end
---@param encoding claude-code.Encoding of the column
---@return integer byte column
function M.to_byte(line, column, encoding)
  local byte = math.max(0, column)
  if encoding ~= "utf-8" and has_encoding_argument then
    byte = vim.str_byteindex(line, encoding, byte, false)
  elseif encoding ~= "utf-8" then
    local ok, found = pcall(vim.str_byteindex, line, byte, encoding == "utf-16")
    byte = ok and found or #line
  end
  -- Neovim also counts the missing bytes of a character that the line's end cuts off.
  return math.min(byte, #line)
end

---@return integer byte column just after the character that starts at (or contains) this byte
function M.after(line, byte)
  if byte >= #line then
    return #line
  end
  return byte + vim.str_utf_end(line, byte + 1) + 1
end

---Counts the characters before a place as spec 05 (editor state) does: a line end is one, and the first offset is 1,
---like Emacs's point, from which that spec comes.
---@param buf integer loaded
---@param lnum integer 0-based line
---@param byte integer 0-based byte column
---@return integer offset 1-based
function M.offset(buf, lnum, byte)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, lnum + 1, false)
  lines[#lines] = (lines[#lines] or ""):sub(1, byte)
  return M.count(table.concat(lines, "\n")) + 1
end

---@param params { bufs: integer[] }
---@return integer[] sizes in characters, line ends included, in the same order; 0 for a buffer that is not loaded
function M.sizes(params)
  return vim.tbl_map(function(buf)
    if not vim.api.nvim_buf_is_loaded(buf) then
      return 0
    end
    local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
    local is_empty = require("claude-code.editor.documents.lines").is_empty(buf, lines)
    return is_empty and 0 or M.count(table.concat(lines, "\n")) + 1
  end, params.bufs)
end

return M
