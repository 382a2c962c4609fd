--- Pairs of an old line and the new one in its place, and the words that changed between them: as diff mode finds them
--- with `linematch` and `inline:word` in 'diffopt' of Neovim 0.12, and the same in 0.10.
local diff = vim.text and vim.text.diff or vim.diff

---Lines of a hunk, old and new ones, that are paired; up to MAX_ALIKE by similarity, which takes 480 ms for 200.
local MAX_LINES, MAX_ALIKE = 100, 40
---Bytes of a line in which changed words are looked for.
local MAX_LINE = 2000

---Changed words with no more than these bytes between them are marked as one, unless those have a word.
local MAX_GAP = 3

local M = {}

---@alias claude-code.ByteRange { [1]: integer, [2]: integer } 0-based, the last not included

---@return table<integer, integer> index of the old line by that of the new one
local function pairs_of(old, new)
  local found = {}
  if #old == 0 or #new == 0 or #old + #new > MAX_LINES then
    return found
  end
  local options = { result_type = "indices", linematch = MAX_ALIKE }
  local before, after = table.concat(old, "\n") .. "\n", table.concat(new, "\n") .. "\n"
  for _, part in
    ipairs(diff(before, after, options) --[[@as integer[][] ]])
  do
    for i = 0, math.min(part[2], part[4]) - 1 do
      found[part[3] + i] = part[1] + i
    end
  end
  return found
end

---@return string words, blanks and other characters, a line each
---@return integer[] bytes before each of them
local function tokens_of(line)
  local tokens, starts, at = {}, {}, 1
  while at <= #line do
    local _, last = line:find("^[%w_\128-\255]+", at)
    if not last then
      _, last = line:find("^%s+", at)
    end
    last = last or at
    tokens[#tokens + 1], starts[#starts + 1] = line:sub(at, last) .. "\n", at - 1
    at = last + 1
  end
  starts[#starts + 1] = #line
  return table.concat(tokens), starts
end

---@return integer bytes that are no blanks
local function size(text)
  return #text:gsub("%s", "")
end

---@return claude-code.ByteRange[] those that are not empty
---@return integer bytes in them that are no blanks
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

---@param starts integer[] of tokens
---@param first integer the one before, if there is none
local function range_of(starts, first, count)
  first = count > 0 and first or first + 1
  return { starts[first], starts[first + count] }
end

---@return claude-code.ByteRange[]? in_old nil for lines of which more than half changed, and for long ones
---@return claude-code.ByteRange[]? in_new
local function changed_words(old, new)
  if math.max(#old, #new) > MAX_LINE then
    return
  end
  local before, old_starts = tokens_of(old)
  local after, new_starts = tokens_of(new)
  local old_ranges, new_ranges = {}, {}
  for i, part in
    ipairs(diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]])
  do
    old_ranges[i] = range_of(old_starts, part[1], part[2])
    new_ranges[i] = range_of(new_starts, part[3], part[4])
  end
  local in_old, old_bytes = joined(old, old_ranges)
  local in_new, new_bytes = joined(new, new_ranges)
  if 2 * (old_bytes + new_bytes) <= size(old) + size(new) then
    return in_old, in_new
  end
end

---What changed within the lines of a hunk.
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
