--- Marks characters that hide or disguise text: control characters, those that change its direction (CVE-2021-42574),
--- invisible ones, and blanks that push the rest of a line out of the window.
local api = vim.api
require("claude-code.lib.highlights")

---Code points, the same as in `src/lib/visible.ts` (a test compares them), without the common tab, form feed and
---carriage return. A NUL is a line feed in a buffer's line.
local RANGES = "1-8 a-b e-1f 7f-9f ad 34f 600-605 61c 6dd 70f 890-891 8e2 115f-1160 17b4-17b5 180b-180f 200b 200e-200f "
  .. "2028-202e 2060-206f 3164 feff ffa0 fff0-fffb 110bd 110cd 13430-1343f 1bca0-1bca3 1d173-1d17a e0000-e0fff"
---Joiners of letters and emojis. They are hidden after an ASCII letter or another joiner.
local JOINERS = "200c-200d"
local BLANKS = "9 20 a0 1680 2000-200a 202f 205f 2800 3000"

---Columns of blanks that push the text after them out of many windows; a tab counts as four.
local MANY_BLANKS = 80
local MIN_BLANKS = MANY_BLANKS / 4

---The limit of marks in one proposal.
local MAX_MARKS = 1000
---In bytes.
local PIECE_OF_LINE = 4000
---The limit for the codes of one cell, in bytes.
local MAX_CODES = 60
local NAMESPACE = api.nvim_create_namespace("claude-code.hidden")

local M = {}

---@return vim.lpeg.Pattern character, vim.lpeg.Pattern first byte of such a character
local function compile(ranges)
  local lpeg = vim.lpeg
  local character, first_bytes = lpeg.P(false), lpeg.P(false)
  for first, last in ranges:gmatch("(%x+)-?(%x*)") do
    local from = tonumber(first, 16)
    local to = tonumber(last, 16) or from
    character = character + lpeg.utfR(from, to)
    first_bytes = first_bytes
      + lpeg.R(vim.fn.nr2char(from):sub(1, 1) .. vim.fn.nr2char(to):sub(1, 1))
  end
  return character, first_bytes
end

---A Lua or Vim pattern would take seconds for 100,000 lines.
---@return vim.lpeg.Pattern of a line; captures the beginning and the end of the next hidden character
local function compile_characters()
  local lpeg = vim.lpeg
  local hidden, first_bytes = compile(RANGES)
  local joiner, joiners_byte = compile(JOINERS)
  local joins = lpeg.B(lpeg.R("\128\255")) - lpeg.B(joiner)
  hidden, first_bytes = hidden + (joiner - joins), first_bytes + joiners_byte
  local others = (1 - first_bytes) ^ 1 + (first_bytes - hidden)
  return others ^ 0 * lpeg.Cp() * hidden * lpeg.Cp()
end

---@return vim.lpeg.Pattern of a line; captures the beginning and the end of blanks that may be many and precede text
local function compile_blanks()
  local lpeg = vim.lpeg
  local blank, first_bytes = compile(BLANKS)
  local others = (1 - first_bytes) ^ 1
    + (first_bytes - blank)
    + blank * blank ^ (2 - MIN_BLANKS) * -blank
  return others ^ 0 * lpeg.Cp() * blank ^ MIN_BLANKS * lpeg.Cp() * #lpeg.P(1)
end

local NEXT, NEXT_BLANKS = compile_characters(), compile_blanks()

---@return integer? first 1-based, of the next MANY_BLANKS
---@return integer? next
local function find_blanks(line, from)
  local first, next = NEXT_BLANKS:match(line, from)
  while first do
    local blanks = line:sub(first, next - 1):gsub("\t", (" "):rep(4))
    if vim.fn.strdisplaywidth(blanks) >= MANY_BLANKS then
      return first, next
    end
    first, next = NEXT_BLANKS:match(line, next)
  end
end

---@return string? code nil if Neovim shows the character
local function code_of(character)
  local is_shown = vim.fn.strtrans(character) ~= character
  return not is_shown and ("<%04x>"):format(vim.fn.char2nr(character)) or nil
end

---A cell includes composing characters, so marks can only follow all of them.
---@return integer next after the cell
local function after_cell(line, next)
  local cell
  repeat
    -- Copying the rest of the line for each of many marks would take seconds.
    local piece = line:sub(next, next + PIECE_OF_LINE - 1):gsub("%z", "\n") -- Vim script's form of a NUL
    cell = vim.fn.strcharpart("a" .. piece, 0, 1, true)
    next = next + #cell - 1
  until #cell <= PIECE_OF_LINE
  return next
end

---@class claude-code.HiddenMarking
---@field pen claude-code.Pen
---@field left integer marks that may still be set
---@field found? integer line 1-based, of the first mark

local function set_mark(marking, row, column, options)
  marking.pen(row, column, options)
  marking.left, marking.found = marking.left - 1, marking.found or row + 1
end

local function inline(text)
  return { virt_text = { { text, "ClaudeCodeWarning" } }, virt_text_pos = "inline" }
end

---@return string? codes of all hidden characters in the cell; nil if Neovim shows the first one
---@return integer next after the cell
local function codes_of(line, first, next)
  local codes = code_of(line:sub(first, next - 1))
  if not codes then
    return nil, next
  end
  local last = after_cell(line, next)
  local other, after = NEXT:match(line, next)
  while other and other < last and #codes < MAX_CODES do
    codes = codes .. (code_of(line:sub(other, after - 1)) or "")
    other, after = NEXT:match(line, after --[[@as integer]])
  end
  return codes, last
end

local function mark_line(marking, row, line)
  local first, next = NEXT:match(line, 1)
  while first and marking.left > 0 do
    local codes, last = codes_of(line, first, next --[[@as integer]])
    if codes then
      set_mark(marking, row, last - 1, inline(codes))
    else
      local range = { end_col = last - 1, hl_group = "ClaudeCodeWarning" }
      set_mark(marking, row, first - 1, range)
    end
    first, next = NEXT:match(line, last)
  end
  first, next = find_blanks(line, 1)
  while first and marking.left > 0 do
    local count = vim.fn.strchars(line:sub(first, next - 1))
    set_mark(marking, row, first - 1, inline(("<%d blanks>"):format(count)))
    first, next = find_blanks(line, next --[[@as integer]])
  end
end

---@param hunk { new: integer, new_count: integer } lines 1-based
local function mark_hunk(buf, marking, hunk)
  local row = math.max(hunk.new - 1, 0)
  for i, line in ipairs(api.nvim_buf_get_lines(buf, row, row + hunk.new_count, false)) do
    mark_line(marking, row + i - 1, line)
  end
end

function M.mark(buf, pen, hunk)
  mark_hunk(buf, { pen = pen, left = MAX_MARKS }, hunk)
end

---Marks hidden characters in hunks, in place of earlier marks.
---@param hunks { new: integer, new_count: integer }[] lines 1-based
---@return integer? line 1-based, of the first mark
function M.show(buf, hunks)
  local function pen(row, column, options)
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, column, options)
  end
  local marking = { pen = pen, left = MAX_MARKS }
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  for _, hunk in ipairs(hunks) do
    mark_hunk(buf, marking, hunk)
  end
  return marking.found
end

---@param from? integer 1-based byte
---@return integer? first byte of the next hidden character
function M.next_in(text, from)
  return (NEXT:match(text, from or 1))
end

return M
