--- Breaks virtual lines where 'wrap' breaks the lines of a buffer: Neovim cuts them at the window's edge.
local fn = vim.fn

---Rows that one line may take.
local MOST_ROWS = 30

local M = {}

---@param text string
---@param cells integer
---@return string head that fits, at least one character
local function fitting(text, cells)
  local head = fn.printf(("%%.%dS"):format(cells), text)
  return head ~= "" and head or fn.strcharpart(text, 0, 1)
end

---@param line claude-code.Chunk[] the margin first, what fills the row last
---@param width integer
---@return claude-code.Chunk[][]
local function rows_of(line, width)
  local margin = fn.strdisplaywidth(line[1][1])
  local rows, left = { { line[1] } }, width - margin
  for i = 2, #line - 1 do
    local text, group = line[i][1], line[i][2]
    while text ~= "" and #rows <= MOST_ROWS do
      if left <= 0 then
        rows[#rows + 1] = { { (" "):rep(margin), line[1][2] } }
        left = width - margin
      end
      local head = fitting(text, left)
      table.insert(rows[#rows], { head, group })
      -- A character of two cells in the last one goes to the next row.
      local cells = fn.strdisplaywidth(head)
      text, left = text:sub(#head + 1), #head < #text and 0 or left - cells
    end
  end
  table.insert(rows[#rows], line[#line])
  return rows
end

---@param lines claude-code.Chunk[][]
---@param width integer of the window, in cells
---@return claude-code.Chunk[][]
function M.lines(lines, width)
  local margin = lines[1] and fn.strdisplaywidth(lines[1][1][1]) or 0
  if width - margin < 2 then
    return lines
  end
  return vim.iter(lines):fold({}, function(rows, line)
    return vim.list_extend(rows, #line > 2 and rows_of(line, width) or { line })
  end)
end

return M
