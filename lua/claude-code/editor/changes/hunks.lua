--- Compares the lines of two texts, white space included, by Neovim's diff with the algorithm of 'diffopt'.
local diff = require("claude-code.editor.documents.lines").diff

local M = {}

---@class claude-code.Hunk lines 1-based; a side without lines names the line before
---@field old integer
---@field old_count integer
---@field new integer
---@field new_count integer

---@class claude-code.HunkList
---@field tick integer changedtick of the proposal's buffer
---@field list claude-code.Hunk[]
---@field added integer lines
---@field removed integer lines

---A buffer without text has one empty line.
local function joined(lines)
  if #lines == 1 and lines[1] == "" then
    return ""
  end
  return table.concat(lines, "\n") .. "\n"
end

---Lines of both texts up to which the algorithm of 'diffopt' compares them: "histogram" takes 2.5 s for 20,000 lines
---if every second one differs.
local MAX_FOR_ALGORITHM = 5000

---@param count integer lines of both texts
local function diff_options(count)
  local wanted = { result_type = "indices" }
  for _, item in ipairs(vim.opt.diffopt:get()) do
    local algorithm = count <= MAX_FOR_ALGORITHM and item:match("^algorithm:(.*)")
    wanted.algorithm = algorithm or wanted.algorithm
    wanted.indent_heuristic = wanted.indent_heuristic or item == "indent-heuristic"
  end
  return wanted
end

---@param old string
---@param new string
---@return claude-code.Hunk[]
function M.compare(old, new)
  local _, count = (old .. new):gsub("\n", "")
  return vim.tbl_map(function(one)
    return { old = one[1], old_count = one[2], new = one[3], new_count = one[4] }
  end, diff(old, new, diff_options(count)) --[[@as integer[][] ]])
end

---Options of vim.diff() by items of 'diffopt'.
local IGNORING = {
  iblank = "ignore_blank_lines",
  iwhite = "ignore_whitespace_change",
  iwhiteall = "ignore_whitespace",
  iwhiteeol = "ignore_whitespace_change_at_eol",
}

---Does 'diffopt' keep diff mode from showing a change of white space?
---@param old string[] lines
---@param new string[]
function M.hides_changes(old, new)
  local all = diff_options(#old + #new)
  local options = vim.deepcopy(all)
  for _, item in ipairs(vim.opt.diffopt:get()) do
    if IGNORING[item] then
      options[IGNORING[item]] = true
    end
  end
  if vim.deep_equal(options, all) then
    return false
  end
  local before, after = joined(old), joined(new)
  return not vim.deep_equal(diff(before, after, options), diff(before, after, all))
end

---@param old string[] lines
---@param new string[]
---@return claude-code.Hunk[]
function M.between(old, new)
  return M.compare(joined(old), joined(new))
end

---@param old string[] lines
---@param new string[]
---@param tick integer changedtick of the buffer with the new text
---@return claude-code.HunkList
function M.list(old, new, tick)
  local list, added, removed = M.between(old, new), 0, 0
  for _, hunk in ipairs(list) do
    added, removed = added + hunk.new_count, removed + hunk.old_count
  end
  return { tick = tick, list = list, added = added, removed = removed }
end

---@param side "old"|"new"
---@return integer first 1-based line on which the cursor is on the hunk
---@return integer last
function M.span(hunk, side)
  local first, count = hunk[side], hunk[side .. "_count"]
  if count == 0 then
    -- The line below shows it, as with ]c.
    return first + 1, first + 1
  end
  return first, first + count - 1
end

---@return integer first 0-based row of the new lines
---@return integer last exclusive; equals `first` if the hunk only deletes
function M.rows(hunk)
  local first = hunk.new_count > 0 and hunk.new - 1 or hunk.new
  return first, first + hunk.new_count
end

---@param list claude-code.Hunk[]
---@param side "old"|"new"
---@param line integer 1-based
---@return integer index of the last hunk that begins at or above the line, or 0
function M.before(list, side, line)
  local index = 0
  while index < #list and M.span(list[index + 1], side) <= line do
    index = index + 1
  end
  return index
end

---Finds the hunk under a cursor. Lines deleted at the end of the file belong to its last line.
---@param list claude-code.Hunk[]
---@param side "old"|"new"
---@param line integer 1-based
---@param count integer lines of that side
---@return integer? index
function M.at(list, side, line, count)
  local index = M.before(list, side, line)
  if index > 0 and select(2, M.span(list[index], side)) >= line then
    return index
  end
  local last = list[#list]
  if last and line == count and M.span(last, side) > count then
    return #list
  end
end

---Finds a line of one text in the other.
---@param list claude-code.Hunk[] between them
---@param from "old"|"new" text with the line
---@param line integer 1-based
---@return integer line of the other text, or the nearest one
---@return boolean is_same false if a hunk has it
function M.counterpart(list, from, line)
  local to, shift = from == "old" and "new" or "old", 0
  for _, hunk in ipairs(list) do
    local count = hunk[from .. "_count"]
    local first = hunk[from] + (count == 0 and 1 or 0)
    if line < first then
      break
    elseif line < first + count then
      return math.max(1, hunk[to]), false
    end
    shift = shift + hunk[to .. "_count"] - count
  end
  return line + shift, true
end

return M
