--- Where a text stands in a buffer. The time grows with the buffer's size and nothing else (the algorithm
--- of Knuth, Morris and Pratt): with string.find() a line of many equal characters takes minutes.
local api = vim.api

---Lines and bytes between two pauses.
local LINES, BYTES = 500, 65536

local M = {}

---@class claude-code.TextPlace
---@field [1] integer row, 1-based
---@field [2] integer byte, 0-based

---@class claude-code.Needle
---@field text string
---@field borders integer[] for each length of a match: how much of it may be the begin of another

---@param needle claude-code.Needle
---@param matched integer bytes of it that stand just before `byte`
---@param byte integer
---@return integer matched up to `byte`
local function advance(needle, matched, byte)
  local text, borders = needle.text, needle.borders
  while matched > 0 and text:byte(matched + 1) ~= byte do
    matched = borders[matched]
  end
  return text:byte(matched + 1) == byte and matched + 1 or matched
end

---@param text string
---@param pause fun()
---@return claude-code.Needle
local function needle_of(text, pause)
  local needle, matched = { text = text, borders = { 0 } }, 0
  for at = 2, #text do
    matched = advance(needle, matched, text:byte(at))
    needle.borders[at] = matched
    if at % BYTES == 0 then
      pause()
    end
  end
  return needle
end

---@param needle claude-code.Needle
---@param text string
---@param from integer 1-based
---@param matched integer bytes of the needle that stand just before
---@param pause fun()
---@return integer? stop of the first match, 1-based
---@return integer matched at the end of the text
local function scan(needle, text, from, matched, pause)
  local first = needle.text:sub(1, 1)
  local at, pause_at = from, from + BYTES
  while at <= #text do
    if matched == 0 then
      local found = text:find(first, at, true)
      if not found then
        return nil, 0
      end
      at = found
    end
    matched = advance(needle, matched, text:byte(at))
    if matched == #needle.text then
      return at, matched
    elseif at >= pause_at then
      pause_at = at + BYTES
      pause()
    end
    at = at + 1
  end
  return nil, matched
end

---@param text string
---@param stop integer
---@return integer breaks line ends before this byte
---@return integer column of this byte in its line, 0-based
local function place_in(text, stop)
  local breaks, begin = 0, 0
  local at = text:find("\n", 1, true)
  while at and at < stop do
    breaks, begin = breaks + 1, at
    at = text:find("\n", at + 1, true)
  end
  return breaks, stop - begin - 1
end

---@param buf integer
---@param needle string
---@param last claude-code.TextPlace
---@return claude-code.TextPlace first
local function start_of(buf, needle, last)
  local breaks = place_in(needle, #needle)
  if breaks == 0 then
    return { last[1], last[2] - #needle + 1 }
  end
  local row = last[1] - breaks
  local line = api.nvim_buf_get_lines(buf, row - 1, row, false)[1] or ""
  return { row, #line - needle:find("\n", 1, true) + 1 }
end

---Finds the first place of a text at or behind `from`. What it finds in a buffer that changes during a
---pause is wrong; nothing is found in one that is unloaded.
---@param buf integer
---@param text string not empty; plain, its line ends are LF
---@param from claude-code.TextPlace
---@param pause fun() called every now and then
---@return claude-code.TextPlace? first nil if it is not there
---@return claude-code.TextPlace? last of its last byte
function M.find(buf, text, from, pause)
  local needle = needle_of(text, pause)
  local row, skip, matched = from[1] - 1, from[2], 0
  local count = api.nvim_buf_line_count(buf)
  while row < count and api.nvim_buf_is_loaded(buf) do
    local lines = api.nvim_buf_get_lines(buf, row, row + LINES, false)
    local part = table.concat(lines, "\n") .. (row + #lines < count and "\n" or "")
    local stop
    stop, matched = scan(needle, part, skip + 1, matched, pause)
    if stop then
      local breaks, column = place_in(part, stop)
      local last = { row + breaks + 1, column }
      return start_of(buf, text, last), last
    end
    row, skip = row + LINES, 0
    if row < count then
      pause()
    end
  end
end

return M
