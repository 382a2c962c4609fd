--- Where a text stands in a buffer.
local api = vim.api

---Lines and places between two pauses. At each place a text that is much like the line takes 1 µs at most.
local LINES, PLACES = 500, 20000

local M = {}

---@class claude-code.TextPlace
---@field [1] integer row, 1-based
---@field [2] integer byte, 0-based

---@param at integer byte, 1-based
---@param row integer of the text's first line, 0-based
---@return claude-code.TextPlace
local function place_in(text, at, row)
  local begin = 0
  local line_end = text:find("\n", 1, true)
  while line_end and line_end < at do
    row, begin = row + 1, line_end
    line_end = text:find("\n", line_end + 1, true)
  end
  return { row + 1, at - begin - 1 }
end

---@param part string
---@param text string plain
---@param from integer byte, 1-based
---@param pause fun()
---@return integer? first
local function find_in(part, text, from, pause)
  for at = from, #part - #text + 1, PLACES do
    local found = part:sub(at, at + PLACES + #text - 2):find(text, 1, true)
    if found then
      return at + found - 1
    end
    pause()
  end
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
  local _, breaks = text:gsub("\n", "")
  local row, skip, step = from[1] - 1, from[2], math.max(LINES, breaks)
  local count = api.nvim_buf_line_count(buf)
  while row < count and api.nvim_buf_is_loaded(buf) do
    local lines = api.nvim_buf_get_lines(buf, row, row + step + breaks, false)
    local part = table.concat(lines, "\n") .. (row + #lines < count and "\n" or "")
    local first = find_in(part, text, skip + 1, pause)
    if first then
      return place_in(part, first, row), place_in(part, first + #text - 1, row)
    end
    row, skip = row + step, 0
    pause()
  end
end

return M
