--- Columns: Neovim counts bytes, the protocol UTF-16 code units. Lines and columns are 0-based here.
local codepoints = require("claude-code.editor.columns.codepoints")

---TODO(0.10): there the functions take no name of an encoding.
local has_encoding_argument = vim.fn.has("nvim-0.11") == 1

local M = {}

---Bytes, characters and UTF-16 code units are the same there.
---@param line string
---@return boolean
function M.is_ascii(line)
  return codepoints.count(line) == #line
end

---@param line string
---@param byte integer byte column; beyond the end means the end
---@return integer utf16 column in UTF-16 code units
function M.to_utf16(line, byte)
  byte = math.max(0, math.min(byte, #line))
  if byte == 0 then
    return 0
  end
  if has_encoding_argument then
    return vim.str_utfindex(line, "utf-16", byte, false)
  end
  local _, utf16 = vim.str_utfindex(line, byte)
  return utf16
end

---@param line string
---@param utf16 integer column in UTF-16 code units; beyond the end means the end
---@return integer byte column
function M.to_byte(line, utf16)
  utf16 = math.max(0, utf16)
  local byte ---@type integer
  if has_encoding_argument then
    byte = vim.str_byteindex(line, "utf-16", utf16, false)
  else
    local ok, found = pcall(vim.str_byteindex, line, utf16, true)
    byte = ok and found or #line
  end
  -- Of a character that the line's end cuts off, Neovim counts the missing bytes too.
  return math.min(byte, #line)
end

---The byte column just behind the character that starts at (or contains) this byte.
---@param line string
---@param byte integer
---@return integer byte column
function M.after(line, byte)
  if byte >= #line then
    return #line
  end
  return byte + vim.str_utf_end(line, byte + 1) + 1
end

return M
