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

---By buffer: characters before each piece, line ends included. Kept as far as the buffer does not change.
local sums_of = {} ---@type table<integer, integer[]>

---@param buf integer loaded
local function follow(buf)
  sums_of[buf] = { 0 }
  api.nvim_buf_attach(buf, false, {
    on_lines = function(_, _, _, first)
      local sums = sums_of[buf]
      for piece = #sums, math.floor(first / PIECE) + 2, -1 do
        sums[piece] = nil
      end
    end,
    on_reload = function()
      sums_of[buf] = { 0 }
    end,
    on_detach = function()
      sums_of[buf] = nil
    end,
  })
  return sums_of[buf]
end

---@param buf integer loaded
---@param lnum integer 0-based line
---@param till integer ns, as of vim.uv.hrtime()
---@return integer? characters in the pieces before that of the line; nil after `till`
---@return integer first 0-based line of its piece
local function before(buf, lnum, till)
  local sums = sums_of[buf] or follow(buf)
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

---@param till integer ns
---@return integer characters or UNKNOWN; 0 if the buffer is not loaded
local function size(buf, till)
  if not api.nvim_buf_is_loaded(buf) then
    return 0
  end
  return count_all(buf, till) or M.UNKNOWN
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
