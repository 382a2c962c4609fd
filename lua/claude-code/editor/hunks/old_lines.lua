--- The old lines of a hunk as virtual lines. Neovim cuts those at the window's edge: where 'wrap' breaks the lines
--- of the buffer, they are broken here.
local api, fn = vim.api, vim.fn
local file_lines = require("claude-code.editor.documents.lines")
local highlights = require("claude-code.editor.hunks.highlights")

---Nobody scrolls through more virtual lines than this; Neovim draws them all each time.
local MOST_LINES = 500

---In bigger hunks what changed within a line is not marked.
local LONGEST_HUNK = 200

---Of a line so many bytes are shown, and only so many once the lines above it have LONG_LINES bytes, all together.
---Nobody sees more, and Neovim takes some 10 ms for 100 KB.
local LONGEST_LINE, SHORTER_LINE, LONG_LINES = 2000, 100, 20000

---Within longer lines nobody sees what changed; bytes.
local LONGEST_MARKED_LINE = 2000

---Rows that one line may take where lines are wrapped.
local MOST_ROWS = 30

local M = { LONGEST_HUNK = LONGEST_HUNK }

---What a line has between the beginning and the end it shares with its other form.
---@param line string
---@param other string
---@return integer? first 0-based byte in `line`; nil if there is none, or the lines are too long
---@return integer? last 0-based, not included; 0 as `first` if they share no more than white space
function M.changed_part(line, other)
  if math.max(#line, #other) <= LONGEST_MARKED_LINE then
    local head, tail = file_lines.common(line, other)
    if head < #line - tail then
      local is_alike = (line:sub(1, head) .. line:sub(#line - tail + 1)):find("%S")
      return is_alike and head or 0, is_alike and #line - tail or 0
    end
  end
end

---@alias claude-code.Chunk { [1]: string, [2]: string } text and highlight group

---@param tabstop integer
---@param column integer where it begins, in cells
---@return string text that shows as the same text does in a buffer
---@return integer column where it ends
local function visible(text, tabstop, column)
  if not text:find("%c") then
    return text, column + fn.strdisplaywidth(text, column)
  end
  local shown = {}
  for i, piece in ipairs(vim.split(text, "\t", { plain = true })) do
    local gap = i > 1 and tabstop - column % tabstop or 0
    -- For a line of tabs alone Neovim's functions would be called thousands of times.
    if piece ~= "" then
      piece = fn.strtrans((piece:gsub("%z", "^@")))
    end
    column = column + gap + (piece ~= "" and fn.strdisplaywidth(piece) or 0)
    shown[i] = (" "):rep(gap) .. piece
  end
  return table.concat(shown), column
end

---@param line string
---@param most integer bytes
---@return string
---@return string? note for what was cut
local function cut(line, most)
  if #line <= most then
    return line
  end
  local last = most + vim.str_utf_start(line, most + 1)
  return line:sub(1, last), (" … and %d more bytes"):format(#line - last)
end

---@param line string
---@param most integer bytes that are shown
---@param new? string the line in its place, if what changed is to be marked
---@param tabstop integer
---@return claude-code.Chunk[]
---@return integer bytes of its text
local function chunks(line, most, new, tabstop)
  local first, last, note
  if new then
    first, last = M.changed_part(line, new)
  end
  line, note = cut(line, most)
  local parts = {
    { line:sub(1, first or #line), "Delete" },
    { first and line:sub(first + 1, last) or "", "DeleteText" },
    { first and line:sub(last + 1) or "", "Delete" },
  }
  local found, column, bytes = {}, 0, 0
  for _, part in ipairs(parts) do
    local text, last_column = visible(part[1], tabstop, column)
    column, bytes = last_column, bytes + #text
    if text ~= "" then
      found[#found + 1] = { text, highlights.name(part[2]) }
    end
  end
  if note then
    found[#found + 1] = { note, highlights.name("Note") }
  end
  -- To the window's edge, as with lines of the buffer.
  local rest = (" "):rep(math.max(1, vim.o.columns - column))
  found[#found + 1] = { rest, highlights.name("Delete") }
  return found, bytes
end

---@param hunk claude-code.DrawnHunk
---@return string[] lines in place of the old ones, from the first on
local function replacements(buf, hunk)
  local count = math.min(#hunk.old_lines, hunk.new_count, LONGEST_HUNK)
  return api.nvim_buf_get_lines(buf, hunk.new - 1, hunk.new - 1 + count, false)
end

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
local function wrapped(lines, width)
  local margin = lines[1] and fn.strdisplaywidth(lines[1][1][1]) or 0
  if width - margin < 2 then
    return lines
  end
  return vim.iter(lines):fold({}, function(rows, line)
    return vim.list_extend(rows, #line > 2 and rows_of(line, width) or { line })
  end)
end

---@param buf integer
---@param hunk claude-code.DrawnHunk
---@param margin claude-code.Chunk in front of each line
---@param wrap_width? integer cells in which the window wraps lines; 0 if it does not
---@return claude-code.Chunk[][] virtual lines
function M.of(buf, hunk, margin, wrap_width)
  local tabstop = vim.bo[buf].tabstop
  local new = hunk.new_count > 0 and replacements(buf, hunk) or {}
  local lines, above = {}, 0
  for i = 1, math.min(#hunk.old_lines, MOST_LINES) do
    local most = above < LONG_LINES and LONGEST_LINE or SHORTER_LINE
    local line, bytes = chunks(hunk.old_lines[i], most, new[i], tabstop)
    above = above + bytes
    table.insert(line, 1, margin)
    lines[#lines + 1] = line
  end
  local more = #hunk.old_lines - #lines
  if more > 0 then
    local text = (" … and %d more deleted lines"):format(more)
    lines[#lines + 1] = { { text, highlights.name("Note") } }
  end
  return (wrap_width or 0) > 0 and wrapped(lines, wrap_width) or lines
end

return M
