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
---In lines: so many between two pauses.
local PIECE = 1000
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
---@param group string
---@return table[]? chunks that show its code, unless Neovim does so itself
local function code_of(character, group)
  local is_shown = vim.fn.strtrans(character) ~= character
  local code = ("<%04x>"):format(vim.fn.char2nr(character))
  return not is_shown and { { code, group } } or nil
end

---Composing characters share a cell with the one before, and nothing can be shown between them.
---@param line string
---@param next integer 1-based
---@return integer next after all that belong to the same cell
local function after_cell(line, next)
  while next <= #line do
    local last = next + vim.str_utf_end(line, next)
    if vim.fn.strcharlen("a" .. line:sub(next, last)) > 1 then
      break
    end
    next = last + 1
  end
  return next
end

---@param buf integer
---@param row integer 0-based
---@param line string
---@return integer count
local function mark_characters(buf, row, line)
  local group, count = require("claude-code.editor.diff.highlights").name("Warning"), 0
  local first, next = find(line, 1)
  while first and count < MOST_MARKS do
    local code = code_of(line:sub(first, next - 1), group)
    local column = code and after_cell(line, next) - 1 or first - 1
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, column, {
      end_col = not code and next - 1 or nil,
      hl_group = not code and group or nil,
      virt_text = code,
      virt_text_pos = "inline",
    })
    count = count + 1
    first, next = find(line, next --[[@as integer]])
  end
  return count
end

---@param buf integer
---@param row integer 0-based
---@param line string
---@return integer count
local function mark_blanks(buf, row, line)
  local group, count = require("claude-code.editor.diff.highlights").name("Warning"), 0
  local first, next = find_blanks(line, 1)
  while first and count < MOST_MARKS do
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, first - 1, {
      virt_text = { { ("<%d blanks>"):format(next - first), group } },
      virt_text_pos = "inline",
    })
    count = count + 1
    first, next = find_blanks(line, next --[[@as integer]])
  end
  return count
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

---@param buf integer
---@param first integer 0-based row of the first line
---@param lines string[]
---@param budget integer how many marks may still be set
---@return integer count
---@return integer? line 1-based, of the first mark
local function mark_lines(buf, first, lines, budget)
  if not may_have_any(table.concat(lines, "\f")) then
    return 0
  end
  local count, found = 0, nil
  for i, line in ipairs(lines) do
    if count >= budget then
      break
    end
    local row = first + i - 1
    local marked = mark_characters(buf, row, line) + mark_blanks(buf, row, line)
    found = found or marked > 0 and row + 1 or nil
    count = count + marked
  end
  return count, found
end

---Shows those in the lines that hunks add or change.
---@param buf integer the proposal's
---@param hunks claude-code.HunkList
---@param pause fun()
---@return integer? line 1-based, of the first one
local function mark(buf, hunks, pause)
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  local budget, found = MOST_MARKS, nil
  for _, hunk in ipairs(hunks.list) do
    local last = hunk.new - 1 + hunk.new_count
    for row = hunk.new - 1, last - 1, PIECE do
      -- In a pause it may have been edited, deleted, or shown and marked.
      local is_same = api.nvim_buf_is_valid(buf)
        and api.nvim_buf_get_changedtick(buf) == hunks.tick
        and hunks.hidden == nil
      if budget > 0 and is_same then
        local lines = api.nvim_buf_get_lines(buf, row, math.min(row + PIECE, last), false)
        local count, line = mark_lines(buf, row, lines, budget)
        budget, found = budget - count, found or line
        pause()
      end
    end
  end
  return found
end

---Shows those that the proposal adds, once for each state of it.
---@param buf integer the proposal's
---@param hunks claude-code.HunkList
---@param pause? fun() called now and then
---@return integer? line 1-based, of the first one
function M.show(buf, hunks, pause)
  if hunks.hidden == nil then
    local found = mark(buf, hunks, pause or function() end)
    hunks.hidden = hunks.hidden or found or false
  end
  return hunks.hidden or nil
end

return M
