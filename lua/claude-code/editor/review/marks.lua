--- Draws unreviewed hunks in the user's files: signs as `review.signs` says, colours and old lines during a review.
local api, fn = vim.api, vim.fn
local differences = require("claude-code.editor.changes.hunks")
local draw = require("claude-code.editor.changes.draw")
local hidden = require("claude-code.editor.changes.hidden")
local reveal = require("claude-code.editor.changes.reveal")
local text = require("claude-code.editor.review.text")

local NAMESPACE = api.nvim_create_namespace("claude-code.review")

---Below gitsigns (6), mini.diff and diagnostics (10).
local SIGN_PRIORITY = 5

local M = {}

local function joined(lines)
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

---Returns the parts of a hunk that are drawn: all of it, or only the lines that differ, if the user's rows are between
---Claude's, or most of a file was only moved.
---@param old_lines string[] as the buffer would have them
local function drawn(hunk, in_parts, old_lines)
  local first, count = hunk.new[1], hunk.new[2]
  if not in_parts or count == 0 then
    return { { new = first, new_count = count, old_lines = old_lines } }
  end
  local found = differences.compare(joined(hunk.old_lines or {}), joined(hunk.new_lines or {}))
  return vim.tbl_map(function(part)
    return {
      new = first + part.new - 1,
      new_count = part.new_count,
      old_lines = vim.list_slice(old_lines, part.old, part.old + part.old_count - 1),
    }
  end, found)
end

local function mark_signs(pen, part)
  local count = part.new_count
  local group = count == 0 and "ClaudeCodeDeleteSign"
    or #part.old_lines == 0 and "ClaudeCodeAddSign"
    or "ClaudeCodeChangeSign"
  local first, sign = math.max(part.new - 1, 0), count == 0 and "▁" or "▎"
  draw.sign(pen, first, math.max(count, 1), sign, group, SIGN_PRIORITY)
end
---Scrolls to show the whole hunk whose first line has the cursor, and to the old lines above it.
---@param hunks claude-code.ReviewHunk[] of its buffer
function M.reveal(win, hunks)
  local row, column = unpack(api.nvim_win_get_cursor(win))
  local hunk = vim.iter(hunks):find(function(one)
    return column == 0 and one.new[1] == row
  end)
  if hunk then
    reveal.hunk(win, drawn(hunk, false, hunk.old_lines or {})[1])
  end
  reveal.old_lines_on_top(win, NAMESPACE)
end

---@class claude-code.ReviewMarks
---@field drawing claude-code.Drawing
---@field is_review boolean colours and old lines, not only signs

---Draws the hunks, in place of the previous ones.
---@param before? claude-code.ReviewMarks what it returned last
---@param hunks claude-code.ReviewHunk[] of the text that the buffer has now
---@param is_beside? boolean the old lines are in another window, which draws both sides
---@return claude-code.ReviewMarks? nil: nothing is drawn
function M.show(buf, before, hunks, is_review, is_beside)
  local lines_of, list = text.reader(buf), {}
  for i, hunk in ipairs(hunks) do
    list[i] = { new = hunk.new[1], new_count = hunk.new[2], hunk = hunk }
  end
  local drawing = draw.start(buf, NAMESPACE, list, function(pen, item, style)
    local hunk = item.hunk
    local in_parts = hunk.in_parts or is_review and hunk.mixed
    local old_lines = is_review and lines_of(hunk.old_lines or {}, hunk.old[1]) or hunk.old_lines
    for _, part in ipairs(drawn(hunk, in_parts, old_lines or {})) do
      if is_review and not is_beside then
        draw.inline(buf, pen, part, style)
      elseif not is_review then
        mark_signs(pen, part)
      end
    end
    if is_review then
      hidden.mark(buf, pen, item)
    end
  end)
  if #hunks == 0 then
    return drawing:stop()
  elseif is_review and not before then
    -- With 'signcolumn' "auto" the first signs move the text, but only once Neovim has drawn them.
    local win = fn.bufwinid(buf)
    local is_auto = win ~= -1 and vim.startswith(vim.wo[win].signcolumn, "auto")
    if is_auto and api.nvim_get_mode().mode == "n" then
      require("claude-code.messages.notify").redraw()
    end
    drawing:show()
  end
  if is_review and not (before and before.is_review) then
    for _, win in ipairs(fn.win_findbuf(buf)) do
      M.reveal(win, hunks)
    end
  end
  return { drawing = drawing, is_review = is_review }
end

return M
