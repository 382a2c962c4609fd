--- Draws the hunks that wait for a review in the user's own files. Signs are there always, or not
--- outside of a review (option `review.signs`); colours and old lines only during one.
local api, fn = vim.api, vim.fn
local differences = require("claude-code.editor.changes.hunks")
local draw = require("claude-code.editor.changes.draw")
local hidden = require("claude-code.editor.changes.hidden")
local reveal = require("claude-code.editor.changes.reveal")
local text = require("claude-code.editor.review.buffer_text")

local NAMESPACE = api.nvim_create_namespace("claude-code.review")

---Below gitsigns (6), mini.diff and diagnostics (10).
local SIGN_PRIORITY = 5

---Signs of one hunk.
local MAX_SIGNS = 2000

local M = {}

local function joined(lines)
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

---A hunk as it is drawn: as a whole, or by the parts that differ, where the user's rows stand between Claude's,
---or most of a file was only moved.
---@param old_lines string[] as the buffer would have them
---@return claude-code.DrawnHunk[]
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
  local first = math.max(part.new - 1, 0)
  for row = first, first + math.min(math.max(count, 1), MAX_SIGNS) - 1 do
    pen(row, 0, {
      sign_text = count == 0 and "▁" or "▎",
      sign_hl_group = group,
      priority = SIGN_PRIORITY,
      strict = false,
    })
  end
end

---The margin in front of old lines, whose signs are drawn already.
---@param win integer that shows them, or -1
---@param are_first boolean the buffer had no signs of the review
---@return claude-code.Chunk
local function margin_in(win, are_first)
  if win == -1 then
    return { "- ", "ClaudeCodeDeleteSign" }
  end
  -- The first signs move the text where 'signcolumn' is "auto", which Neovim knows once it has drawn them.
  local is_auto = vim.startswith(vim.wo[win].signcolumn, "auto")
  if are_first and is_auto and api.nvim_get_mode().mode == "n" then
    require("claude-code.messages.notify").redraw()
  end
  return draw.margin(win)
end

local function draw_review(buf, pen, hunks, are_first)
  local lines_of, parts = text.reader(buf), {}
  for _, hunk in ipairs(hunks) do
    local old_lines = lines_of(hunk.old_lines or {}, hunk.old[1])
    vim.list_extend(parts, drawn(hunk, hunk.mixed or hunk.in_parts, old_lines))
  end
  for _, part in ipairs(parts) do
    draw.new_lines(buf, pen, part)
  end
  hidden.show(buf, parts)
  local win = fn.bufwinid(buf)
  local wrap_width = win ~= -1 and vim.wo[win].wrap and api.nvim_win_get_width(win) or 0
  local margin = margin_in(win, are_first)
  for _, part in ipairs(parts) do
    draw.old_lines(buf, pen, part, margin, wrap_width)
  end
end

---Scrolls to all of the hunk whose beginning has the cursor, and to the old lines above it.
---@param win integer
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

---Draws the hunks, in the place of what was drawn before.
---@param buf integer
---@param before "signs"|"review"|nil what it returned last
---@param hunks claude-code.ReviewHunk[] of the text that the buffer has now
---@param is_review boolean colours and old lines, too, not signs alone
---@return "signs"|"review"|nil what is drawn
function M.show(buf, before, hunks, is_review)
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  hidden.show(buf, {})
  ---@type claude-code.Pen
  local function pen(row, column, options)
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, column, options)
  end
  if is_review and #hunks > 0 then
    draw_review(buf, pen, hunks, before == nil)
  elseif not is_review then
    for _, hunk in ipairs(hunks) do
      for _, part in ipairs(drawn(hunk, hunk.in_parts, hunk.old_lines or {})) do
        mark_signs(pen, part)
      end
    end
  end
  if is_review and before ~= "review" then
    for _, win in ipairs(fn.win_findbuf(buf)) do
      M.reveal(win, hunks)
    end
  end
  return #hunks > 0 and (is_review and "review" or "signs") or nil
end

return M
