--- Pairs old lines with new ones, and finds the words that changed between them, as diff mode of Neovim 0.12 does with
--- `linematch` and `inline:word` in 'diffopt'.
local hunks = require("claude-code.editor.documents.lines").hunks

---In a hunk with more lines, old and new together, lines are not paired, or not by similarity (480 ms for 200).
local MAX_LINES, MAX_ALIKE = 100, 40
---In a hunk with more bytes, lines are neither paired by similarity nor searched for changed words (360 ms for 32 KB).
local MAX_ALIKE_BYTES, MAX_BYTES = 3000, 10000
---A longer line, in bytes, is not searched for changed words.
local MAX_LINE = 2000

---Two changed words are marked as one if at most this many bytes, none of them part of a word, are between them.
local MAX_GAP = 3

local M = {}

---@alias claude-code.ByteRange { [1]: integer, [2]: integer } 0-based, end exclusive

---@return table<integer, integer> index of the old line by that of the new one
local function pairs_of(old, new)
  local found = {}
  if #old == 0 or #new == 0 or #old + #new > MAX_LINES then
    return found
  end
  local bytes = #table.concat(old) + #table.concat(new)
  if bytes > MAX_BYTES then
    return found
  end
  for _, hunk in ipairs(hunks(old, new, bytes <= MAX_ALIKE_BYTES and MAX_ALIKE or nil)) do
    for i = 1, math.min(hunk.old, hunk.new) do
      found[hunk.from + i] = hunk.row + i
    end
  end
  return found
end

---@return string[] words, blanks and other characters
---@return integer[] starts byte of each, 0-based, and of the end
local function tokens_of(line)
  local tokens, starts, at = {}, {}, 1
  while at <= #line do
    local _, last = line:find("^[%w_\128-\255]+", at)
    if not last then
      _, last = line:find("^%s+", at)
    end
    last = last or at
    tokens[#tokens + 1], starts[#starts + 1] = line:sub(at, last), at - 1
    at = last + 1
  end
  starts[#starts + 1] = #line
  return tokens, starts
end

---@return integer bytes without blanks
local function size(text)
  return #text:gsub("%s", "")
end

---@return claude-code.ByteRange[] without empty ones
---@return integer bytes in them without blanks
local function joined(line, ranges)
  local found, bytes = {}, 0
  for _, range in ipairs(ranges) do
    local last = found[#found]
    local gap = last and line:sub(last[2] + 1, range[1])
    if gap and #gap <= MAX_GAP and not gap:find("[%w_\128-\255]") then
      last[2] = range[2]
    elseif range[1] < range[2] then
      found[#found + 1] = { range[1], range[2] }
    end
  end
  for _, range in ipairs(found) do
    bytes = bytes + size(line:sub(range[1] + 1, range[2]))
  end
  return found, bytes
end

---@return claude-code.ByteRange[]? in_old nil if the lines are long, or more than half of them changed
---@return claude-code.ByteRange[]? in_new
local function changed_words(old, new)
  if math.max(#old, #new) > MAX_LINE then
    return
  end
  local before, old_starts = tokens_of(old)
  local after, new_starts = tokens_of(new)
  local old_ranges, new_ranges = {}, {}
  for i, hunk in ipairs(hunks(before, after)) do
    old_ranges[i] = { old_starts[hunk.row + 1], old_starts[hunk.row + hunk.old + 1] }
    new_ranges[i] = { new_starts[hunk.from + 1], new_starts[hunk.from + hunk.new + 1] }
  end
  local in_old, old_bytes = joined(old, old_ranges)
  local in_new, new_bytes = joined(new, new_ranges)
  if 2 * (old_bytes + new_bytes) <= size(old) + size(new) then
    return in_old, in_new
  end
end

---Finds the parts of a hunk's lines that changed.
---@param old string[]
---@param new string[]
---@return table<integer, claude-code.ByteRange[]> in_old by the index of a line
---@return table<integer, claude-code.ByteRange[]> in_new
function M.changes(old, new)
  local in_old, in_new = {}, {}
  for index, other in pairs(pairs_of(old, new)) do
    in_old[other], in_new[index] = changed_words(old[other], new[index])
  end
  return in_old, in_new
end

return M
