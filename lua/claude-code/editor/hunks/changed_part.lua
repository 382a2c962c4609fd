--- What differs between a line and its other form.
local M = {}

---Within longer lines nobody sees it anyway; bytes.
local LONGEST_LINE = 2000

---@param text string
---@param byte integer 1-based
---@return boolean does a character begin here?
local function begins(text, byte)
  local value = text:byte(byte)
  return value == nil or value < 0x80 or value >= 0xC0
end

---What a line has between the beginning and the end it shares with its other form.
---@param line string
---@param other string
---@return integer? first 0-based byte in `line`; nil if there is none, or the lines are too long
---@return integer? last 0-based, not included
function M.of(line, other)
  if #line > LONGEST_LINE or #other > LONGEST_LINE then
    return nil, nil
  end
  local shortest = math.min(#line, #other)
  local head = 0
  while head < shortest and other:byte(head + 1) == line:byte(head + 1) do
    head = head + 1
  end
  while head > 0 and not begins(line, head + 1) do
    head = head - 1
  end
  local tail = 0
  while tail < shortest - head and other:byte(-tail - 1) == line:byte(-tail - 1) do
    tail = tail + 1
  end
  while tail > 0 and not begins(line, #line - tail + 1) do
    tail = tail - 1
  end
  if head < #line - tail then
    return head, #line - tail
  end
end

return M
