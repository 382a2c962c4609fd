--- Characters of a buffer, as spec 05 (editor state) counts them: Unicode code points, a line end
--- is one. Offsets are 1-based, like Emacs's point, from which that spec comes.
local api = vim.api
local columns = require("claude-code.editor.columns")

local M = {}

---So long one call may count, in ms.
local SIZES_MS, OFFSET_MS = 10, 4
---Lines that are counted together, and kept as one number.
local PIECE = 200
---What has not been counted to its end. A later call goes on.
M.UNKNOWN = -1

---@class claude-code.CharacterCounts kept as far as the buffer does not change
---@field before integer[] characters before each piece, line ends included: 0 before the first
---@field all? integer those of the whole buffer

---@type table<integer, claude-code.CharacterCounts>
local counts_of = {}

---@param buf integer loaded
---@return claude-code.CharacterCounts
local function follow(buf)
  local counts = { before = { 0 } }
  counts_of[buf] = counts
  api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first)
      counts.all = nil
      for piece = #counts.before, math.floor(first / PIECE) + 2, -1 do
        counts.before[piece] = nil
      end
    end,
    on_reload = function()
      counts.before, counts.all = { 0 }, nil
    end,
    on_detach = function()
      counts_of[buf] = nil
    end,
  })
  return counts
end

---@param buf integer loaded
---@param lnum integer 0-based line
---@param till integer ns, as of vim.uv.hrtime()
---@return integer? characters in the pieces before that of the line; nil after `till`
---@return integer first 0-based line of its piece
local function before(buf, lnum, till)
  local sums = (counts_of[buf] or follow(buf)).before
  local piece = math.floor(lnum / PIECE)
  while #sums <= piece and vim.uv.hrtime() < till do
    local from = (#sums - 1) * PIECE
    local text = table.concat(api.nvim_buf_get_lines(buf, from, from + PIECE, false), "\n")
    sums[#sums + 1] = sums[#sums] + columns.count(text) + 1
  end
  return sums[piece + 1], piece * PIECE
end

---@param buf integer loaded
---@param lnum integer 0-based line
---@param byte integer 0-based byte column
---@return integer offset 1-based, or UNKNOWN
function M.offset(buf, lnum, byte)
  local characters, first = before(buf, lnum, vim.uv.hrtime() + OFFSET_MS * 1e6)
  if not characters then
    return M.UNKNOWN
  end
  local lines = api.nvim_buf_get_lines(buf, first, lnum + 1, false)
  lines[#lines] = (lines[#lines] or ""):sub(1, byte)
  return characters + columns.count(table.concat(lines, "\n")) + 1
end

---@param buf integer loaded
---@param till integer ns
---@return integer? characters line ends included; nil after `till`
local function count_all(buf, till)
  local count = api.nvim_buf_line_count(buf)
  local characters, first = before(buf, count - 1, till)
  if not characters then
    return nil
  end
  local lines = api.nvim_buf_get_lines(buf, first, count, false)
  if count == 1 and require("claude-code.editor.documents.lines").is_empty(buf, lines) then
    return 0
  end
  return characters + columns.count(table.concat(lines, "\n")) + 1
end

---@param buf integer
---@param till integer ns
---@return integer characters or UNKNOWN; 0 if the buffer is not loaded
local function size(buf, till)
  if not api.nvim_buf_is_loaded(buf) then
    return 0
  end
  local counts = (counts_of[buf] or follow(buf))
  counts.all = counts.all or count_all(buf, till)
  return counts.all or M.UNKNOWN
end

---@param params { bufs: integer[] }
---@return integer[] sizes in the same order; 0 for a buffer that is gone, or UNKNOWN
function M.sizes(params)
  local till = vim.uv.hrtime() + SIZES_MS * 1e6
  return vim.tbl_map(function(buf)
    return size(buf, till)
  end, params.bufs)
end

return M
