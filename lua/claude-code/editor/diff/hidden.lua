--- Characters that a proposal adds and that change how its text looks, or that nobody sees: control
--- characters, those that turn the direction of the text (CVE-2021-42574), invisible ones, and blanks
--- that push what follows out of the window.
local api = vim.api
local highlights = require("claude-code.editor.hunks.highlights")

---First and last code point. Not among them: tab, form feed and carriage return, which are common;
---U+200C, U+200D and the variation selectors below U+FE10, which are part of words and emojis. A NUL
---is a line feed in a buffer's line.
local RANGES = {
  { 0x01, 0x08 },
  { 0x0a, 0x0b },
  { 0x0e, 0x1f },
  { 0x7f, 0x7f },
  { 0x80, 0x9f },
  { 0xad, 0xad },
  { 0x34f, 0x34f },
  { 0x61c, 0x61c },
  { 0x115f, 0x1160 },
  { 0x17b4, 0x17b5 },
  { 0x180b, 0x180f },
  { 0x200b, 0x200b },
  { 0x200e, 0x200f },
  { 0x2028, 0x202e },
  { 0x2060, 0x206f },
  { 0x3164, 0x3164 },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff9, 0xfffb },
  { 0xe0000, 0xe0fff },
}

---A text behind so many blanks is outside of many windows; a tab counts as four.
local MANY_BLANKS = 80
local LEAST_BLANKS = MANY_BLANKS / 4

---More of them in one proposal are not marked.
local MOST_MARKS = 1000
---In bytes.
local PIECE_OF_LINE = 4000
---Bytes of the codes of one cell.
local MOST_CODES = 60
local NAMESPACE = api.nvim_create_namespace("claude-code.diff.hidden")

local M = {}

---By LPeg, as a pattern of Lua or Vim takes seconds for 100,000 lines.
---@return vim.lpeg.Pattern of a line; captures where the next of them begins, and what follows
local function compile_characters()
  local lpeg = vim.lpeg
  local hidden, first_bytes = lpeg.P(false), lpeg.P(false)
  for _, range in ipairs(RANGES) do
    local from, to = vim.fn.nr2char(range[1]), vim.fn.nr2char(range[2])
    hidden = hidden + lpeg.utfR(range[1], range[2])
    first_bytes = first_bytes + lpeg.R(from:sub(1, 1) .. to:sub(1, 1))
  end
  local others = (1 - first_bytes) ^ 1 + (first_bytes - hidden)
  return others ^ 0 * lpeg.Cp() * hidden * lpeg.Cp()
end

---@return vim.lpeg.Pattern pattern of a line; captures blanks that may be many, with a text behind them
local function compile_blanks()
  local lpeg = vim.lpeg
  local blank = lpeg.S(" \t")
  local others = (1 - blank) ^ 1 + blank * blank ^ (2 - LEAST_BLANKS) * -blank
  return others ^ 0 * lpeg.Cp() * blank ^ LEAST_BLANKS * lpeg.Cp() * #lpeg.P(1)
end

local CHARACTERS, BLANKS = compile_characters(), compile_blanks()

---@return integer? first 1-based, of the next blanks that are many
---@return integer? next
local function find_blanks(line, from)
  local first, next = BLANKS:match(line, from)
  while first do
    local _, tabs = line:sub(first, next - 1):gsub("\t", "")
    if next - first + 3 * tabs >= MANY_BLANKS then
      return first, next
    end
    first, next = BLANKS:match(line, next)
  end
end

---@return string? code what shows it, unless Neovim does so itself
local function code_of(character)
  local is_shown = vim.fn.strtrans(character) ~= character
  return not is_shown and ("<%04x>"):format(vim.fn.char2nr(character)) or nil
end

---Composing characters share a cell with the one before, and nothing can be shown between them.
---@return integer next after all that belong to the same cell
local function after_cell(line, next)
  local cell
  repeat
    -- A copy of all that follows, for each of many marks, would take seconds.
    local piece = line:sub(next, next + PIECE_OF_LINE - 1):gsub("%z", "\n") -- as Vim script has a NUL
    cell = vim.fn.strcharpart("a" .. piece, 0, 1, true)
    next = next + #cell - 1
  until #cell <= PIECE_OF_LINE
  return next
end

---@class claude-code.HiddenMarking
---@field buf integer the proposal's
---@field left integer how many marks may still be set
---@field found? integer line 1-based, of the first mark

---@param marking claude-code.HiddenMarking
local function set_mark(marking, row, column, options)
  api.nvim_buf_set_extmark(marking.buf, NAMESPACE, row, column, options)
  marking.left, marking.found = marking.left - 1, marking.found or row + 1
end

local function inline(text)
  return { virt_text = { { text, highlights.name("Warning") } }, virt_text_pos = "inline" }
end

---@return string? codes of all such characters in its cell, unless Neovim shows them itself
---@return integer next after that cell
local function codes_of(line, first, next)
  local codes = code_of(line:sub(first, next - 1))
  if not codes then
    return nil, next
  end
  local last = after_cell(line, next)
  local other, after = CHARACTERS:match(line, next)
  while other and other < last and #codes < MOST_CODES do
    codes = codes .. (code_of(line:sub(other, after - 1)) or "")
    other, after = CHARACTERS:match(line, after --[[@as integer]])
  end
  return codes, last
end

---@param marking claude-code.HiddenMarking
local function mark_line(marking, row, line)
  local first, next = CHARACTERS:match(line, 1)
  while first and marking.left > 0 do
    local codes, last = codes_of(line, first, next --[[@as integer]])
    if codes then
      set_mark(marking, row, last - 1, inline(codes))
    else
      local range = { end_col = last - 1, hl_group = highlights.name("Warning") }
      set_mark(marking, row, first - 1, range)
    end
    first, next = CHARACTERS:match(line, last)
  end
  first, next = find_blanks(line, 1)
  while first and marking.left > 0 do
    set_mark(marking, row, first - 1, inline(("<%d blanks>"):format(next - first)))
    first, next = find_blanks(line, next --[[@as integer]])
  end
end

---Shows those in the lines that hunks add or change.
---@param proposal claude-code.Proposal
---@return integer? line 1-based, of the first one
function M.show(proposal)
  local marking = { buf = proposal.new_buf, left = MOST_MARKS }
  api.nvim_buf_clear_namespace(marking.buf, NAMESPACE, 0, -1)
  local lines = proposal:lines()
  for _, hunk in ipairs(proposal:hunks().list) do
    for number = hunk.new, hunk.new + hunk.new_count - 1 do
      mark_line(marking, number - 1, lines[number])
    end
  end
  return marking.found
end

return M
