--- Characters of a buffer, as spec 05 (editor state) counts them: Unicode code points, a line end
--- is one. Offsets are 1-based, like Emacs's point, from which that spec comes.
local api = vim.api

---TODO(0.10): there the functions take no name of an encoding.
local has_encoding_argument = vim.fn.has("nvim-0.11") == 1

local M = {}

---Sizes are kept until the buffer changes: counting a big file takes milliseconds.
---@type table<integer, { tick: integer, size: integer }>
local sizes = {}

---@param text string
---@return integer
function M.count(text)
  if not text:find("[\128-\255]") then
    return #text
  end
  if has_encoding_argument then
    return vim.str_utfindex(text, "utf-32")
  end
  return (vim.str_utfindex(text))
end

---The column in characters of a byte column.
---@param line string
---@param byte integer 0-based; beyond the end means the end
---@return integer column 0-based
function M.column(line, byte)
  return M.count(line:sub(1, byte))
end

---@param buf integer
---@param lnum integer 0-based line
---@param byte integer 0-based byte column
---@return integer offset 1-based
function M.offset(buf, lnum, byte)
  local lines = api.nvim_buf_get_lines(buf, 0, lnum + 1, false)
  lines[#lines] = (lines[#lines] or ""):sub(1, byte)
  return M.count(table.concat(lines, "\n")) + 1
end

---@param buf integer
---@return integer characters line ends included; 0 if the buffer is not loaded
function M.size(buf)
  if not api.nvim_buf_is_loaded(buf) then
    sizes[buf] = nil
    return 0
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  local known = sizes[buf]
  if not known or known.tick ~= tick then
    local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
    local empty = require("claude-code.editor.documents.text").is_empty(buf, lines)
    local size = empty and 0 or M.count(table.concat(lines, "\n")) + 1
    known = { tick = tick, size = size }
    sizes[buf] = known
  end
  return known.size
end

---@param params { bufs: integer[] }
---@return integer[] sizes in the same order; 0 for a buffer that is gone
function M.sizes(params)
  for buf in pairs(sizes) do
    if not api.nvim_buf_is_valid(buf) then
      sizes[buf] = nil
    end
  end
  return vim.tbl_map(M.size, params.bufs)
end

return M
