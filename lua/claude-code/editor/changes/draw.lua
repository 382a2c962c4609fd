--- Draws hunks in a buffer that holds the new text: colours, signs, and the old lines as virtual lines. Neovim cuts
--- virtual lines at the window's edge: where 'wrap' breaks the lines of the buffer, they are broken here.
local api, fn = vim.api, vim.fn
local file_lines = require("claude-code.editor.documents.lines")
require("claude-code.lib.highlights")

---Below tree-sitter's (100): its foreground goes on our background.
local LINE_PRIORITY, TEXT_PRIORITY = 50, 60

---Above those of other plugins, which know nothing of the change.
local SIGN_PRIORITY = 100

---Lines of one hunk that have a sign each.
local MAX_SIGNS = 2000

---Nobody scrolls through more virtual lines than this; Neovim draws them all each time.
local MAX_OLD_LINES = 500

---In bigger hunks what changed within a line is not marked.
local MAX_MARKED_LINES = 200

---Bytes of a line that are shown, and in which a change is marked; and fewer once the lines above it have LONG_LINES
---bytes, all together. Nobody sees more, and Neovim takes some 10 ms for 100 KB.
local MAX_LINE, SHORTER_LINE, LONG_LINES = 2000, 100, 20000

---Rows that one line may take where lines are wrapped.
local MAX_ROWS = 30

local CAN_SCROLL = fn.has("nvim-0.11") == 1

local M = {}

---@alias claude-code.Chunk { [1]: string, [2]: string } text and highlight group

---@alias claude-code.Pen fun(row: integer, column: integer, options: vim.api.keyset.set_extmark) sets an
--- extmark; both 0-based

---@class claude-code.DrawnHunk
---@field new integer first line, from 1; of no lines the one before
---@field new_count integer
---@field old_lines string[]

---The part of a line between the beginning and the end that it shares with its other form.
---@return integer? first 0-based byte in `line`; nil if there is none, or the lines are too long
---@return integer? last 0-based, not included; 0 as `first` if they share no more than white space
local function changed_part(line, other)
  if math.max(#line, #other) <= MAX_LINE then
    local head, tail = file_lines.common(line, other)
    if head < #line - tail then
      local is_alike = (line:sub(1, head) .. line:sub(#line - tail + 1)):find("%S")
      return is_alike and head or 0, is_alike and #line - tail or 0
    end
  end
end

local function mark_lines(pen, row, count, name)
  pen(row, 0, {
    end_row = row + count,
    end_col = 0,
    hl_group = name,
    hl_eol = true,
    priority = LINE_PRIORITY,
    strict = false,
  })
end

---@param old string line in whose place this one stands
local function mark_pair(buf, pen, row, old)
  local new = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local first, last = changed_part(new, old)
  mark_lines(pen, row, 1, "ClaudeCodeAdd")
  if first and last > 0 then
    pen(row, first, {
      end_col = last,
      hl_group = "ClaudeCodeAddText",
      priority = TEXT_PRIORITY,
    })
  end
end

---The new lines, with signs.
---@param buf integer
---@param pen claude-code.Pen
---@param hunk claude-code.DrawnHunk
function M.new_lines(buf, pen, hunk)
  if hunk.new_count == 0 then
    return
  end
  local row = hunk.new - 1
  local pairs_of_lines = math.min(#hunk.old_lines, hunk.new_count, MAX_MARKED_LINES)
  if pairs_of_lines < hunk.new_count then
    mark_lines(pen, row + pairs_of_lines, hunk.new_count - pairs_of_lines, "ClaudeCodeAdd")
  end
  for i = 1, math.min(hunk.new_count, MAX_SIGNS) do
    pen(row + i - 1, 0, {
      sign_text = "+",
      sign_hl_group = "ClaudeCodeAddSign",
      priority = SIGN_PRIORITY,
      strict = false,
    })
    if i <= pairs_of_lines then
      mark_pair(buf, pen, row + i - 1, hunk.old_lines[i])
    end
  end
end

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

---@return string
---@return string? note for what was cut
local function cut(line, most)
  if #line <= most then
    return line
  end
  local last = most + vim.str_utf_start(line, most + 1)
  return line:sub(1, last), (" … and %d more bytes"):format(#line - last)
end

---@param most integer bytes that are shown
---@param new? string the line in its place, if what changed is to be marked
---@return claude-code.Chunk[]
---@return integer bytes of its text
local function chunks(line, most, new, tabstop)
  local first, last, note
  if new then
    first, last = changed_part(line, new)
  end
  line, note = cut(line, most)
  local parts = {
    { line:sub(1, first or #line), "ClaudeCodeDelete" },
    { first and line:sub(first + 1, last) or "", "ClaudeCodeDeleteText" },
    { first and line:sub(last + 1) or "", "ClaudeCodeDelete" },
  }
  local found, column, bytes = {}, 0, 0
  for _, part in ipairs(parts) do
    local text, last_column = visible(part[1], tabstop, column)
    column, bytes = last_column, bytes + #text
    if text ~= "" then
      found[#found + 1] = { text, part[2] }
    end
  end
  if note then
    found[#found + 1] = { note, "ClaudeCodeNote" }
  end
  -- To the window's edge, as with lines of the buffer.
  local rest = (" "):rep(math.max(1, vim.o.columns - column))
  found[#found + 1] = { rest, "ClaudeCodeDelete" }
  return found, bytes
end

---@return string head that fits, at least one character
local function fitting(text, cells)
  local head = fn.printf(("%%.%dS"):format(cells), text)
  return head ~= "" and head or fn.strcharpart(text, 0, 1)
end

---@param line claude-code.Chunk[] the margin first, what fills the row last
local function rows_of(line, width)
  local margin = fn.strdisplaywidth(line[1][1])
  local rows, left = { { line[1] } }, width - margin
  for i = 2, #line - 1 do
    local text, group = line[i][1], line[i][2]
    while text ~= "" and #rows <= MAX_ROWS do
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

local function wrapped(lines, width)
  local margin = lines[1] and fn.strdisplaywidth(lines[1][1][1]) or 0
  if width - margin < 2 then
    return lines
  end
  return vim.iter(lines):fold({}, function(rows, line)
    return vim.list_extend(rows, #line > 2 and rows_of(line, width) or { line })
  end)
end

---@return claude-code.Chunk[][]
local function virtual_lines(buf, hunk, margin, wrap_width)
  local tabstop, first = vim.bo[buf].tabstop, hunk.new - 1
  local replaced = math.min(#hunk.old_lines, hunk.new_count, MAX_MARKED_LINES)
  local new = replaced > 0 and api.nvim_buf_get_lines(buf, first, first + replaced, false) or {}
  local lines, above = {}, 0
  for i = 1, math.min(#hunk.old_lines, MAX_OLD_LINES) do
    local most = above < LONG_LINES and MAX_LINE or SHORTER_LINE
    local line, bytes = chunks(hunk.old_lines[i], most, new[i], tabstop)
    above = above + bytes
    table.insert(line, 1, margin)
    lines[#lines + 1] = line
  end
  local more = #hunk.old_lines - #lines
  if more > 0 then
    local text = (" … and %d more deleted lines"):format(more)
    lines[#lines + 1] = { { text, "ClaudeCodeNote" } }
  end
  return (wrap_width or 0) > 0 and wrapped(lines, wrap_width) or lines
end

---The old lines, above the new ones.
---@param buf integer
---@param pen claude-code.Pen
---@param hunk claude-code.DrawnHunk
---@param margin claude-code.Chunk in front of them
---@param wrap_width? integer cells in which the window wraps lines; 0 if it does not
function M.old_lines(buf, pen, hunk, margin, wrap_width)
  if #hunk.old_lines == 0 then
    return
  end
  local row = hunk.new_count > 0 and hunk.new - 1 or hunk.new
  local count = api.nvim_buf_line_count(buf)
  pen(math.min(row, count - 1), 0, {
    virt_lines = virtual_lines(buf, hunk, margin, wrap_width),
    virt_lines_leftcol = true,
    virt_lines_above = row < count,
    virt_lines_overflow = CAN_SCROLL and "scroll" or nil,
  })
end

---A sign, and room up to where the lines of the buffer begin.
---@param win integer
---@return claude-code.Chunk
function M.margin(win)
  local cells = math.max(2, fn.getwininfo(win)[1].textoff)
  return { "-" .. (" "):rep(cells - 1), "ClaudeCodeDeleteSign" }
end

return M
