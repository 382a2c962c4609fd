--- Characters that a proposal adds and that change how its text looks, or that nobody sees: control
--- characters, those that turn the direction of the text (CVE-2021-42574), invisible ones, and blanks
--- that push what follows out of the window.
local api = vim.api

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

---More of them in one proposal are not marked.
local MOST_MARKS = 1000
---In lines: so many are read at once.
local PIECE = 1000
---In bytes, of whole lines: so many are searched at once.
local PIECE_BYTES = 64 * 1000
---In bytes.
local PIECE_OF_LINE = 4000
---Bytes of the codes of one cell.
local MOST_CODES = 60
local NAMESPACE = api.nvim_create_namespace("claude-code.diff.hidden")

local M = {}

---By LPeg, as a pattern of Lua or Vim takes seconds for 100,000 lines.
---@return vim.lpeg.Pattern pattern of a line; captures where the next of them begins, and what follows
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
  local least = MANY_BLANKS / 4
  local others = (1 - blank) ^ 1 + blank * blank ^ (2 - least) * -blank
  return others ^ 0 * lpeg.Cp() * blank ^ least * lpeg.Cp() * #lpeg.P(1)
end

local characters, blanks ---@type vim.lpeg.Pattern?, vim.lpeg.Pattern?

---@param line string
---@param from integer 1-based
---@return integer? first 1-based, of the next such character, in bytes
---@return integer? next
local function find(line, from)
  characters = characters or compile_characters()
  return characters:match(line, from)
end

---@param line string
---@param from integer 1-based
---@return integer? first 1-based, of the next blanks that are many
---@return integer? next
local function find_blanks(line, from)
  blanks = blanks or compile_blanks()
  local first, next = blanks:match(line, from)
  while first do
    local _, tabs = line:sub(first, next - 1):gsub("\t", "")
    if next - first + 3 * tabs >= MANY_BLANKS then
      return first, next
    end
    first, next = blanks:match(line, next)
  end
end

---@param character string
---@return string? code what shows it, unless Neovim does so itself
local function code_of(character)
  local is_shown = vim.fn.strtrans(character) ~= character
  return not is_shown and ("<%04x>"):format(vim.fn.char2nr(character)) or nil
end

---Composing characters share a cell with the one before, and nothing can be shown between them.
---@param line string
---@param next integer 1-based
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
---@field hunks claude-code.HunkList
---@field left integer how many marks may still be set
---@field found? integer line 1-based, of the first mark

---@param marking claude-code.HiddenMarking
---@param row integer 0-based
---@param column integer 0-based, in bytes
---@param options vim.api.keyset.set_extmark
---@return boolean goes_on there may be more
local function set_mark(marking, row, column, options)
  api.nvim_buf_set_extmark(marking.buf, NAMESPACE, row, column, options)
  marking.left, marking.found = marking.left - 1, marking.found or row + 1
  return marking.left > 0
end

---@param line string
---@param first integer 1-based, of such a character
---@param next integer
---@return string? codes of all such characters in its cell, unless Neovim shows them itself
---@return integer next after that cell
local function codes_of(line, first, next)
  local codes = code_of(line:sub(first, next - 1))
  if not codes then
    return nil, next
  end
  local last = after_cell(line, next)
  local other, after = find(line, next)
  while other and other < last and #codes < MOST_CODES do
    codes = codes .. (code_of(line:sub(other, after - 1)) or "")
    other, after = find(line, after --[[@as integer]])
  end
  return codes, last
end

---@param marking claude-code.HiddenMarking
---@param row integer 0-based
---@param line string
---@return boolean goes_on
local function mark_characters(marking, row, line)
  local group, goes_on = require("claude-code.editor.hunks.highlights").name("Warning"), true
  local first, next = find(line, 1)
  while goes_on and first do
    local codes, last = codes_of(line, first, next --[[@as integer]])
    goes_on = set_mark(marking, row, (codes and last or first) - 1, {
      end_col = not codes and last - 1 or nil,
      hl_group = not codes and group or nil,
      virt_text = codes and { { codes, group } } or nil,
      virt_text_pos = "inline",
    })
    first, next = find(line, last)
  end
  return goes_on
end

---@param marking claude-code.HiddenMarking
---@param row integer 0-based
---@param line string
---@return boolean goes_on
local function mark_blanks(marking, row, line)
  local group, goes_on = require("claude-code.editor.hunks.highlights").name("Warning"), true
  local first, next = find_blanks(line, 1)
  while goes_on and first do
    goes_on = set_mark(marking, row, first - 1, {
      virt_text = { { ("<%d blanks>"):format(next - first), group } },
      virt_text_pos = "inline",
    })
    first, next = find_blanks(line, next --[[@as integer]])
  end
  return goes_on
end

---Every long run of blanks has one of these in it.
local SIGNS_OF_BLANKS = { (" "):rep(MANY_BLANKS), ("\t"):rep(MANY_BLANKS / 4), " \t", "\t " }

---Mostly there is none, and a search for fixed strings takes a fraction of the time.
---@param text string
---@return boolean
local function may_have_any(text)
  return vim.iter(SIGNS_OF_BLANKS):any(function(sign)
    return text:find(sign, 1, true) ~= nil
  end) or find(text, 1) ~= nil
end

---@param lines string[]
---@param first integer
---@return integer last so many lines that have PIECE_BYTES together, or one
local function piece_from(lines, first)
  local last, bytes = first, #lines[first]
  while last < #lines and bytes < PIECE_BYTES do
    last = last + 1
    bytes = bytes + #lines[last]
  end
  return last
end

---@param marking claude-code.HiddenMarking
---@param row integer 0-based, of the first line
---@param lines string[]
---@return boolean goes_on
local function mark_lines(marking, row, lines)
  local first, goes_on = 1, true
  while goes_on and first <= #lines do
    local last = piece_from(lines, first)
    if may_have_any(table.concat(lines, "\f", first, last)) then
      for i = first, last do
        goes_on = goes_on
          and mark_characters(marking, row + i - 1, lines[i])
          and mark_blanks(marking, row + i - 1, lines[i])
      end
    end
    first = last + 1
  end
  return goes_on
end

---Shows those in the lines that hunks add or change.
---@param marking claude-code.HiddenMarking
local function mark_hunks(marking)
  api.nvim_buf_clear_namespace(marking.buf, NAMESPACE, 0, -1)
  for _, hunk in ipairs(marking.hunks.list) do
    local last = hunk.new - 1 + hunk.new_count
    for row = hunk.new - 1, last - 1, PIECE do
      local rows_end = math.min(row + PIECE, last)
      if
        not mark_lines(marking, row, api.nvim_buf_get_lines(marking.buf, row, rows_end, false))
      then
        return
      end
    end
  end
end

---Shows those that the proposal adds, once for each state of it.
---@param buf integer the proposal's
---@param hunks claude-code.HunkList
---@return integer? line 1-based, of the first one
function M.show(buf, hunks)
  if hunks.hidden == nil then
    local marking = {
      buf = buf,
      hunks = hunks,
      left = MOST_MARKS,
    }
    mark_hunks(marking)
    hunks.hidden = marking.found or false
  end
  return hunks.hidden or nil
end

return M
