--- Characters that a proposal adds and that change how its text looks, or that nobody sees: control
--- characters, those that turn the direction of the text (CVE-2021-42574), and invisible ones.
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

---More of them in one proposal are not marked.
local MOST_MARKS = 1000
local NAMESPACE = api.nvim_create_namespace("claude-code.diff.hidden")

local M = {}

---By LPeg, as a pattern of Lua or Vim takes seconds for 100,000 lines.
---@return vim.lpeg.Pattern pattern of a line; captures where the next of them begins, and what follows
local function compile()
  local lpeg = vim.lpeg
  local hidden, first_bytes = lpeg.P(false), lpeg.P(false)
  for _, range in ipairs(RANGES) do
    local from, to = vim.fn.nr2char(range[1]), vim.fn.nr2char(range[2])
    hidden = hidden + lpeg.utfR(range[1], range[2])
    first_bytes = first_bytes + lpeg.R(from:sub(1, 1) .. to:sub(1, 1))
  end
  local others = (1 - first_bytes) ^ 0
  return lpeg.P({ others * (lpeg.Cp() * hidden * lpeg.Cp() + 1 * lpeg.V(1)) })
end

local pattern ---@type vim.lpeg.Pattern?

---@param line string
---@param from integer 1-based
---@return integer? first 1-based, of the next such character, in bytes
---@return integer? next
local function find(line, from)
  pattern = pattern or compile()
  return pattern:match(line, from)
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
---@param first integer? 1-based, of its first such character
---@param next integer?
---@return integer count
local function mark_line(buf, row, line, first, next)
  local group, count = require("claude-code.editor.diff.highlights").name("Warning"), 0
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

---Shows those in the lines that hunks add or change.
---@param buf integer the proposal's
---@param hunks claude-code.Hunk[]
---@return integer? line 1-based, of the first one
local function mark(buf, hunks)
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  local found, count = nil, 0
  for _, hunk in ipairs(hunks) do
    local row = hunk.new - 1
    local added = hunk.new_count > 0
        and api.nvim_buf_get_lines(buf, row, row + hunk.new_count, false)
      or {}
    for i, line in ipairs(added) do
      local first, next = find(line, 1)
      if first and count < MOST_MARKS then
        found = found or row + i
        count = count + mark_line(buf, row + i - 1, line, first, next)
      end
    end
  end
  return found
end

---Shows those that the proposal adds, once for each state of it.
---@param buf integer the proposal's
---@param hunks claude-code.HunkList
---@return integer? line 1-based, of the first one
function M.show(buf, hunks)
  if hunks.hidden == nil then
    hunks.hidden = mark(buf, hunks.list) or false
  end
  return hunks.hidden or nil
end

return M
