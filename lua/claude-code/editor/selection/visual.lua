--- Reads visual selections: the text between two corners, as visual modes define it. The selection must be in the
--- current window, since blocks are measured on screen.
local api = vim.api
local buffer_lines = require("claude-code.editor.documents.lines")
local line_columns = require("claude-code.editor.columns")

---@alias claude-code.VisualMode "v"|"V"|"\22"

---@class claude-code.VisualRegion corners, sorted: 1-based lines, 0-based bytes
---@field buf integer
---@field mode claude-code.VisualMode
---@field first { [1]: integer, [2]: integer }
---@field last { [1]: integer, [2]: integer }

---@class claude-code.Span of a region: 0-based lines and bytes; `last` is after the end
---@field first { [1]: integer, [2]: integer }
---@field last { [1]: integer, [2]: integer }
---@field text string
---@field truncated? true the text was cut at 100,000 bytes; the ends are not

local M = {}

---The rest is cut. The Claude CLI (2.1.330) uses the first 2000 characters.
local MAX_BYTES = 100000
---Lines that are read at once, since the first lines of a huge file suffice.
local PIECE = 500
---Bytes of a character with its combining marks.
local MAX_OF_CHARACTER = 1024

---Select mode selects like visual mode.
---@type table<string, claude-code.VisualMode>
local MODES = { v = "v", V = "V", ["\22"] = "\22", s = "v", S = "V", ["\19"] = "\22" }

---@param mode string (`:help mode()`)
---@return claude-code.VisualMode?
function M.mode(mode)
  return MODES[mode:sub(1, 1)]
end

local function sorted(buf, mode, a, b)
  if a[1] > b[1] or (a[1] == b[1] and a[2] > b[2]) then
    a, b = b, a
  end
  return { buf = buf, mode = mode, first = a, last = b }
end

---@return claude-code.VisualRegion? region in the current window; nil outside of visual modes
function M.current()
  local mode = M.mode(api.nvim_get_mode().mode)
  if not mode then
    return nil
  end
  local a, b = vim.fn.getpos("v"), vim.fn.getpos(".")
  return sorted(api.nvim_get_current_buf(), mode, { a[2], a[3] - 1 }, { b[2], b[3] - 1 })
end

---@return claude-code.VisualRegion? region last selected in the current buffer
function M.last(mode)
  local buf = api.nvim_get_current_buf()
  local first, last = api.nvim_buf_get_mark(buf, "<"), api.nvim_buf_get_mark(buf, ">")
  if first[1] == 0 or last[1] == 0 then
    return nil
  end
  return sorted(buf, mode, first, last)
end

---@return integer byte after a character and its combining marks, which Neovim selects as one
local function behind(line, byte)
  if byte >= #line then
    return #line
  end
  -- A string of Vim script cannot contain NUL.
  local piece = line:sub(byte + 1, byte + MAX_OF_CHARACTER):gsub("%z", " ")
  local length = vim.fn.matchend(piece, ".")
  return length > 0 and byte + length or line_columns.after(line, byte)
end

---@return string text of MAX_BYTES or more, if there is that much
local function text_between(buf, first, last)
  local lines, size, row = {}, -first[2], first[1]
  while row <= last[1] and size <= MAX_BYTES do
    local piece = api.nvim_buf_get_lines(buf, row, math.min(row + PIECE, last[1] + 1), false)
    vim.list_extend(lines, piece)
    row, size = row + PIECE, size + #table.concat(piece, "\n") + 1
  end
  local stop = last[1] - first[1] + 1
  lines[stop] = lines[stop] and lines[stop]:sub(1, last[2])
  lines[1] = (lines[1] or ""):sub(first[2] + 1)
  return table.concat(lines, "\n")
end

---@return string text of all touched lines, to find out later whether they have changed
function M.lines(region)
  local first, last = region.first[1] - 1, region.last[1] - 1
  return text_between(region.buf, { first, 0 }, { last, vim.v.maxcol })
end

local function charwise(region)
  local first, last = region.first, region.last
  local line = buffer_lines.at(region.buf, last[1] - 1)
  local exclusive = vim.o.selection == "exclusive" and not vim.deep_equal(first, last)
  -- Leave out the line end that `v$` also selects, as for whole lines.
  local stop = exclusive and math.min(last[2], #line) or behind(line, last[2])
  local start = math.min(first[2], #buffer_lines.at(region.buf, first[1] - 1))
  return { first[1] - 1, start }, { last[1] - 1, stop }
end

---Ends at the end of the last line, not at the start of the next: Claude Code (2.1.330) counts a line only if the end
---is after its first column. If the last line is empty, the selection ends at the start of the next line.
local function linewise(region)
  local first, last = { region.first[1] - 1, 0 }, region.last[1]
  local length = #buffer_lines.at(region.buf, last - 1)
  if length == 0 and last < api.nvim_buf_line_count(region.buf) then
    return first, { last, 0 }
  end
  return first, { last - 1, length }
end

---@return integer first, integer last screen columns of a character
local function columns(corner)
  local range = vim.fn.virtcol({ corner[1], corner[2] + 1 }, 1)
  return range[1], range[2]
end

---@return integer left, integer right screen columns, inclusive; `right` is huge after `$`
local function block_edges(region)
  local a_left, a_right = columns(region.first)
  local b_left, b_right = columns(region.last)
  local left, right = math.min(a_left, b_left), math.max(a_right, b_right)
  if vim.fn.winsaveview().curswant == vim.v.maxcol then
    right = math.huge
  elseif vim.o.selection == "exclusive" then
    right = math.max(left, math.max(a_left, b_left) - 1)
  end
  return left, right
end

---@return integer byte of the character in a screen column, or the length of a shorter line
---@return string line
local function byte_at(buf, lnum, column)
  local line = buffer_lines.at(buf, lnum - 1)
  if column >= vim.fn.virtcol({ lnum, "$" }) then
    return #line, line
  end
  return vim.fn.virtcol2col(api.nvim_get_current_win(), lnum, column) - 1, line
end

local function blockwise(region)
  local left, right = block_edges(region)
  local start = byte_at(region.buf, region.first[1], left)
  local stop, line = byte_at(region.buf, region.last[1], right)
  return { region.first[1] - 1, start }, { region.last[1] - 1, behind(line, stop) }
end

---@return string line starting at a screen column; the rest of a tab that begins before the column becomes spaces
local function line_from(buf, lnum, column)
  local byte, line = byte_at(buf, lnum, column)
  if byte >= #line then
    return ""
  end
  local first, last = columns({ lnum, byte })
  if first >= column then
    return line:sub(byte + 1)
  end
  return (" "):rep(last - column + 1) .. line:sub(behind(line, byte) + 1)
end

local function lines_to_end(region, left)
  local lines, size, lnum = {}, 0, region.first[1]
  while lnum <= region.last[1] and size <= MAX_BYTES + 1 do
    lines[#lines + 1] = line_from(region.buf, lnum, left)
    lnum, size = lnum + 1, size + #lines[#lines] + 1
  end
  return lines
end

local function lines_of_block(region, left)
  local function place(corner)
    return { region.buf, corner[1], corner[2] + 1, 0 }
  end
  local lines = vim.fn.getregion(place(region.first), place(region.last), { type = "\22" })
  for i, line in ipairs(lines) do
    -- getregion() gives spaces for a line that ends before the block.
    if line:find("^ +$") and vim.fn.virtcol({ region.first[1] + i - 1, "$" }) <= left then
      lines[i] = ""
    end
  end
  return lines
end

---@return string text of the block, as `y` takes it, but without padding
local function block_text(region)
  local left, right = block_edges(region)
  -- getregion() does not support `$`.
  local lines = right == math.huge and lines_to_end(region, left) or lines_of_block(region, left)
  return table.concat(lines, "\n")
end

---Functions that find the ends of a span, by mode.
local ENDS = { v = charwise, V = linewise, ["\22"] = blockwise }

---@return claude-code.Span with at most MAX_BYTES of text
function M.read(region)
  local first, last = ENDS[region.mode](region)
  local text = region.mode == "\22" and block_text(region) or text_between(region.buf, first, last)
  local is_cut = #text > MAX_BYTES
  -- Cut between two characters.
  text = is_cut and text:sub(1, MAX_BYTES + vim.str_utf_start(text, MAX_BYTES + 1)) or text
  return { first = first, last = last, text = text, truncated = is_cut or nil }
end

return M
