--- Merges two changed versions of a text, three ways, on whole lines, as `git merge-file --diff3` does.
local file_lines = require("claude-code.editor.documents.lines")

---The limit of lines in the three texts together. A longer merge may block Neovim for more than 100 ms.
local MAX_LINES = 30000

local M = {}

---@return table[] hunks of both sides, from the top down; rows of the base are 0-based
local function compare(base, sides)
  local hunks = {}
  for side, lines in ipairs(sides) do
    for _, hunk in ipairs(file_lines.hunks(base, lines)) do
      local to, growth = hunk.row + hunk.old, hunk.new - hunk.old
      table.insert(hunks, { side = side, from = hunk.row, to = to, growth = growth })
    end
  end
  return require("claude-code.lib.sort")(hunks, "from")
end

---@param base? string[] nil: unknown, which makes each difference a conflict
---@param labels string[] of the three texts, for conflict markers
---@return string[]? lines nil if the texts are too long
---@return integer conflicts
function M.three_way(ours, base, theirs, labels)
  local old = base or ours
  if #ours + #old + #theirs > MAX_LINES then
    return nil, 0
  end
  local hunks = compare(old, { ours, theirs })
  local lines, conflicts, done, shifts, next = {}, 0, 0, { 0, 0 }, 1
  while hunks[next] do
    -- Hunks that touch each other are one change.
    local from, to, before_it = hunks[next].from, hunks[next].to, vim.list_slice(shifts)
    while hunks[next] and hunks[next].from <= to do
      local hunk = hunks[next]
      shifts[hunk.side] = shifts[hunk.side] + hunk.growth
      to, next = math.max(to, hunk.to), next + 1
    end
    local mine = vim.list_slice(ours, from + before_it[1] + 1, to + shifts[1])
    local other = vim.list_slice(theirs, from + before_it[2] + 1, to + shifts[2])
    local before = vim.list_slice(old, from + 1, to)
    local parts = { mine }
    if file_lines.are_same(mine, other) or base and file_lines.are_same(mine, before) then
      parts = { other }
    elseif not base or not file_lines.are_same(other, before) then
      conflicts = conflicts + 1
      parts =
        { { "<<<<<<< " .. labels[1] }, mine, { "=======" }, other, { ">>>>>>> " .. labels[3] } }
      if base then
        table.insert(parts, 3, before)
        table.insert(parts, 3, { "||||||| " .. labels[2] })
      end
    end
    vim.list_extend(lines, old, done + 1, from)
    vim.list_extend(lines, vim.iter(parts):flatten():totable())
    done = to
  end
  return vim.list_extend(lines, old, done + 1, #old), conflicts
end

return M
