--- Characters of a buffer, as spec 05 (editor state) counts them: Unicode code points, a line end
--- is one. Offsets are 1-based, like Emacs's point, from which that spec comes.
local api = vim.api

---TODO(0.10): there the functions take no name of an encoding.
local has_encoding_argument = vim.fn.has("nvim-0.11") == 1

local M = {}

---So long one call may count, in ms, and so many lines without a look at the clock.
local COUNT_MS, PIECE = 10, 200
---Size of a buffer that has not been counted to its end.
local UNKNOWN = -1

---@class claude-code.CharacterCount
---@field tick integer changedtick
---@field lines integer those that were counted
---@field size integer characters in them

---Kept until the buffer changes: a big one takes several calls.
---@type table<integer, claude-code.CharacterCount>
local counts = {}

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

---@param buf integer loaded
---@return claude-code.CharacterCount
local function count_of(buf)
  local tick, known = api.nvim_buf_get_changedtick(buf), counts[buf]
  if not known or known.tick ~= tick then
    local all = api.nvim_buf_line_count(buf)
    local first = all == 1 and api.nvim_buf_get_lines(buf, 0, 1, false) or nil
    local is_empty = first and require("claude-code.editor.documents.text").is_empty(buf, first)
    known = { tick = tick, lines = is_empty and all or 0, size = 0 }
    counts[buf] = known
  end
  return known
end

---@param buf integer
---@param till integer ns, as of vim.uv.hrtime()
---@return integer characters line ends included; 0 if the buffer is not loaded, UNKNOWN after `till`
local function size(buf, till)
  if not api.nvim_buf_is_loaded(buf) then
    counts[buf] = nil
    return 0
  end
  local known, all = count_of(buf), api.nvim_buf_line_count(buf)
  while known.lines < all and vim.uv.hrtime() < till do
    local lines = api.nvim_buf_get_lines(buf, known.lines, known.lines + PIECE, false)
    known.size = known.size + M.count(table.concat(lines, "\n")) + 1
    known.lines = known.lines + #lines
  end
  return known.lines < all and UNKNOWN or known.size
end

---@param params { bufs: integer[] }
---@return integer[] sizes in the same order; 0 for a buffer that is gone, -1 where a later call goes on
function M.sizes(params)
  for buf in pairs(counts) do
    if not api.nvim_buf_is_valid(buf) then
      counts[buf] = nil
    end
  end
  local till = vim.uv.hrtime() + COUNT_MS * 1e6
  return vim.tbl_map(function(buf)
    return size(buf, till)
  end, params.bufs)
end

return M
