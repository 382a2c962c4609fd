--- Draws hunks in a buffer that holds the new text: colours, signs, and the old lines as virtual lines.
local api, fn = vim.api, vim.fn
local highlights = require("claude-code.editor.hunks.highlights")
local old_lines = require("claude-code.editor.hunks.old_lines")

---Below tree-sitter's (100): its foreground goes on our background.
local LINE_PRIORITY, TEXT_PRIORITY = 50, 60

---Above those of other plugins, which know nothing of the change.
local SIGN_PRIORITY = 100

---Lines of one hunk that have a sign each.
local MOST_SIGNS = 2000

---In lines: so many between two pauses.
local PIECE = 20

local CAN_SCROLL = fn.has("nvim-0.11") == 1

local M = {}

---@alias claude-code.Pen fun(row: integer, column: integer, options: vim.api.keyset.set_extmark) sets an
--- extmark; both 0-based

---@class claude-code.DrawnHunk
---@field new integer first line, from 1; of no lines the one before
---@field new_count integer
---@field old_lines string[]

---@param pen claude-code.Pen
---@param row integer 0-based, of the first line
---@param count integer
---@param name "Add"|"Change"
local function mark_lines(pen, row, count, name)
  pen(row, 0, {
    end_row = row + count,
    end_col = 0,
    hl_group = highlights.name(name),
    hl_eol = true,
    priority = LINE_PRIORITY,
    strict = false,
  })
end

---@param pen claude-code.Pen
---@param row integer 0-based
---@param old string line in whose place this one stands
local function mark_pair(buf, pen, row, old)
  local new = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local first, last = old_lines.changed_part(new, old)
  mark_lines(pen, row, 1, last == 0 and "Add" or "Change")
  if first and last > 0 then
    pen(row, first, {
      end_col = last,
      hl_group = highlights.name("Text"),
      priority = TEXT_PRIORITY,
    })
  end
end

---The new lines, with signs.
---@param buf integer
---@param pen claude-code.Pen
---@param hunk claude-code.DrawnHunk
---@param pause? fun() called now and then
function M.new_lines(buf, pen, hunk, pause)
  if hunk.new_count == 0 then
    return
  end
  local row = hunk.new - 1
  local pairs_of_lines = math.min(#hunk.old_lines, hunk.new_count, old_lines.LONGEST_HUNK)
  if pairs_of_lines < hunk.new_count then
    mark_lines(pen, row + pairs_of_lines, hunk.new_count - pairs_of_lines, "Add")
  end
  for i = 1, math.min(hunk.new_count, MOST_SIGNS) do
    pen(row + i - 1, 0, {
      sign_text = "+",
      sign_hl_group = highlights.name("Added"),
      priority = SIGN_PRIORITY,
      strict = false,
    })
    if i <= pairs_of_lines then
      mark_pair(buf, pen, row + i - 1, hunk.old_lines[i])
    end
    if pause and i % PIECE == 0 then
      pause()
    end
  end
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
    virt_lines = old_lines.of(buf, hunk, margin, wrap_width),
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
  return { "-" .. (" "):rep(cells - 1), highlights.name("Removed") }
end

return M
