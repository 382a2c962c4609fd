--- What accepting certain lines gives, in place of the lines that were proposed.
local hunks = require("claude-code.editor.hunks")
local text = require("claude-code.editor.diff.text")

local M = {}

---@class claude-code.DiffResult
---@field lines? string[] without line ends; nil if they are as proposed
---@field newline? boolean does the last line end with one? nil: as proposed
---@field empty boolean nothing of the proposal is left: the lines are the old file's

---@param lines string[]
---@param other string[]
---@return boolean is the last line of one that of the other, too?
local function ends_as(lines, other)
  -- With a line before them, as a lone empty one counts as none.
  local old, new = vim.list_extend({ "" }, other), vim.list_extend({ "" }, lines)
  local list = hunks.between(old, new)
  return #list == 0 or select(2, hunks.rows(list[#list])) < #new
end

---A last newline goes with its line, which came with the proposal unless the old file's end was put
---back in place of the proposal's. Comparing that line alone would not do: many files end in a line
---like some before.
---@param lines string[]
---@param old claude-code.Text
---@param proposed claude-code.Text
---@return boolean? newline nil: as proposed
local function newline_of(lines, old, proposed)
  if not text.has_text(old) or old.newline == proposed.newline then
    return nil
  elseif ends_as(lines, old.lines) and not ends_as(proposed.lines, old.lines) then
    return old.newline
  end
end

---@param lines string[]
---@param old claude-code.Text the file on disk
---@param proposed claude-code.Text
---@return claude-code.DiffResult
function M.of(lines, old, proposed)
  if text.same_lines(lines, proposed.lines) then
    return { empty = false }
  end
  return {
    lines = lines,
    newline = newline_of(lines, old, proposed),
    empty = text.same_lines(lines, old.lines),
  }
end

---The text that accepting these lines gives, by the rule of src/ide/diffs/final-text.ts.
---@param lines string[]
---@param old claude-code.Text the file on disk
---@param proposed claude-code.Text
---@return string
function M.text(lines, old, proposed)
  local result = M.of(lines, old, proposed)
  local newline = result.newline
  if newline == nil then
    newline = proposed.newline or (result.lines ~= nil and not text.has_text(proposed))
  end
  return text.join(lines, proposed, newline)
end

return M
