--- Draws the hunks that wait for a review in the user's own files. Signs are there always, or not
--- outside of a review (option `review.signs`); colours and old lines only during one.
local api = vim.api
local draw = require("claude-code.editor.hunks.draw")
local highlights = require("claude-code.editor.review.highlights")
local in_sight = require("claude-code.editor.windows.in_sight")
local sideways = require("claude-code.editor.hunks.sideways")
local text = require("claude-code.editor.review.text")
local wrap = require("claude-code.editor.hunks.wrap")

local NAMESPACE = api.nvim_create_namespace("claude-code.review")

---Below gitsigns (6), mini.diff and diagnostics (10).
local SIGN_PRIORITY = 5

---Signs of one hunk.
local MOST_SIGNS = 2000

local M = {}

---@class claude-code.DrawnMarks of one buffer
---@field style string what all of them depend on
---@field hunks table<string, table<integer, integer>> by hunk (see key_of): its marks, each with its row,
--- counted from the hunk's first one

local drawn_in = {} ---@type table<integer, claude-code.DrawnMarks> by buffer

---@param hunk claude-code.ReviewHunk
---@return string key another one for another picture
local function key_of(hunk)
  return hunk.mixed and hunk.id .. " mixed" or hunk.id
end

---@param buf integer
---@param part claude-code.DrawnHunk
---@return integer[] marks
local function mark_signs(buf, part)
  local count = part.new_count
  local kind = count == 0 and "Delete" or #part.old_lines == 0 and "Add" or "Change"
  local first, marks = math.max(part.new - 1, 0), {}
  for row = first, first + math.min(math.max(count, 1), MOST_SIGNS) - 1 do
    marks[#marks + 1] = api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
      sign_text = kind == "Delete" and "▁" or "▎",
      sign_hl_group = highlights.name("Review" .. kind),
      priority = SIGN_PRIORITY,
      strict = false,
    })
  end
  return marks
end

---The parts of a hunk that differ: the user's rows in a mixed one stand on both sides of it, and so does
---most of a file that was moved.
---@param hunk claude-code.ReviewHunk
---@param old_lines string[]
---@return claude-code.DrawnHunk[]
local function parts(hunk, old_lines)
  local function joined(lines)
    return table.concat(vim.tbl_map(function(line)
      return line .. "\n"
    end, lines))
  end
  local first = math.max(hunk.new[1], 1)
  local differing = vim.diff(
    joined(hunk.old_lines or {}),
    joined(hunk.new_lines or {}),
    { result_type = "indices" }
  ) --[[@as integer[][] ]]
  return vim.tbl_map(function(part)
    local old, old_count, new, new_count = unpack(part)
    local lines = vim.list_slice(old_lines, old, old + old_count - 1)
    return { new = first + new - 1, new_count = new_count, old_lines = lines }
  end, differing)
end

---@param hunk claude-code.ReviewHunk
---@param lines_of fun(rows: string[], first: integer): string[]
---@return claude-code.DrawnHunk[]
local function drawn(hunk, lines_of)
  local old_lines = lines_of(hunk.old_lines or {}, hunk.old[1])
  if (hunk.mixed or hunk.in_parts) and hunk.new[2] > 0 then
    return parts(hunk, old_lines)
  end
  return { { new = hunk.new[1], new_count = hunk.new[2], old_lines = old_lines } }
end

---@param hunk claude-code.ReviewHunk
---@return claude-code.DrawnHunk[] what has signs outside of a review
local function signed(hunk)
  local old_lines = hunk.old_lines or {}
  local whole = { new = hunk.new[1], new_count = hunk.new[2], old_lines = old_lines }
  return hunk.in_parts and parts(hunk, old_lines) or { whole }
end

---@param buf integer
function M.clear(buf)
  drawn_in[buf] = nil
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  end
end

---The margin in front of old lines, whose signs are drawn already.
---@param buf integer
---@param are_first boolean the buffer had no signs of the review
---@return claude-code.Chunk
local function margin_in(buf, are_first)
  local win = vim.fn.bufwinid(buf)
  if win == -1 then
    return { "- ", "ClaudeCodeDiffRemoved" }
  end
  -- By its first signs 'signcolumn' "auto" moves the text, which Neovim knows once it has drawn them.
  local is_auto = vim.startswith(vim.wo[win].signcolumn, "auto")
  if are_first and is_auto and api.nvim_get_mode().mode == "n" then
    require("claude-code.messages.redraw")()
  end
  return draw.margin(win)
end

---@param buf integer
---@return (fun(lines: claude-code.Chunk[][]): claude-code.Chunk[][])? nil where the window does not wrap
local function arranger(buf)
  local win = vim.fn.bufwinid(buf)
  if win == -1 or not vim.wo[win].wrap then
    return nil
  end
  local width = api.nvim_win_get_width(win)
  return function(lines)
    return wrap.lines(lines, width)
  end
end

---Scrolls to all of the hunk whose beginning has the cursor, and to what changed far to the right there.
---@param win integer
---@param hunks claude-code.ReviewHunk[]
local function reveal_hunk(win, hunks)
  local row, column = unpack(api.nvim_win_get_cursor(win))
  local hunk = column == 0
    and vim.iter(hunks):find(function(other)
      return other.new[1] == row
    end)
  if not hunk then
    return
  end
  in_sight.show(win, row + math.max(hunk.new[2], 1) - 1)
  local old_line = hunk.old_lines and hunk.old_lines[1]
  if old_line and hunk.new[2] > 0 then
    sideways.to_part(win, row, old_line)
  end
end

---Of old lines above the first row of a window Neovim shows none, unless it is asked to. Scrolls to them
---if the cursor is in that row, and to the hunk that begins there.
---@param win integer
---@param hunks claude-code.ReviewHunk[] of its buffer
function M.reveal(win, hunks)
  reveal_hunk(win, hunks)
  local view = api.nvim_win_call(win, vim.fn.winsaveview)
  local row = { view.topline - 1, 0 }
  local found = view.lnum == view.topline
      and view.topfill == 0
      and api.nvim_buf_get_extmarks(
        api.nvim_win_get_buf(win),
        NAMESPACE,
        row,
        row,
        { details = true }
      )
    or {}
  for _, mark in ipairs(found) do
    local above = mark[4].virt_lines_above and #mark[4].virt_lines or 0
    local fill = math.min(above, api.nvim_win_get_height(win) - 2)
    if fill > 0 then
      api.nvim_win_call(win, function()
        vim.fn.winrestview({ topline = view.topline, topfill = fill })
      end)
    end
  end
end

---@param buf integer
---@param reviewing boolean
---@return string
local function style_of(buf, reviewing)
  local win = vim.fn.bufwinid(buf)
  local width = win ~= -1 and vim.wo[win].wrap and api.nvim_win_get_width(win) or 0
  local margin = win ~= -1 and vim.fn.getwininfo(win)[1].textoff or 0
  local options = vim.bo[buf]
  local format = { options.fileformat, options.fileencoding, options.tabstop, vim.o.columns }
  return table.concat({ tostring(reviewing), width, margin, unpack(format) }, " ")
end

---Removes the marks of hunks that are not there any more, or that an edit has moved.
---@param buf integer
---@param known table<string, table<integer, integer>>
---@param hunks claude-code.ReviewHunk[]
---@return claude-code.ReviewHunk[] hunks without those that are drawn as they are
local function undrawn(buf, known, hunks)
  local rows = {} ---@type table<integer, integer>
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, NAMESPACE, 0, -1, {})) do
    rows[mark[1]] = mark[2]
  end
  local stay = {} ---@type table<string, true>
  local rest = vim.tbl_filter(function(hunk)
    local key = key_of(hunk)
    local is_drawn = known[key] ~= nil
    for mark, row in pairs(known[key] or {}) do
      is_drawn = is_drawn and rows[mark] == hunk.new[1] + row
    end
    stay[key] = is_drawn or nil
    return not is_drawn
  end, hunks)
  for key, marks in pairs(known) do
    if not stay[key] then
      known[key] = nil
      for mark in pairs(marks) do
        api.nvim_buf_del_extmark(buf, NAMESPACE, mark)
      end
    end
  end
  return rest
end

---@param buf integer
---@param known table<string, table<integer, integer>>
---@param hunk claude-code.ReviewHunk
---@param marks integer[]
local function remember(buf, known, hunk, marks)
  local key = key_of(hunk)
  known[key] = known[key] or {}
  for _, mark in ipairs(marks) do
    local row = api.nvim_buf_get_extmark_by_id(buf, NAMESPACE, mark, {})[1]
    known[key][mark] = row - hunk.new[1]
  end
end

---@param buf integer
---@param hunks claude-code.ReviewHunk[]
---@param known table<string, table<integer, integer>>
---@param are_first boolean
local function draw_hunks(buf, hunks, known, are_first)
  local lines_of = text.reader(buf)
  local parts_of = {} ---@type table<claude-code.ReviewHunk, claude-code.DrawnHunk[]>
  for _, hunk in ipairs(hunks) do
    parts_of[hunk] = drawn(hunk, lines_of)
    for _, part in ipairs(parts_of[hunk]) do
      remember(buf, known, hunk, draw.new_lines(buf, NAMESPACE, part))
    end
  end
  local margin, arrange = margin_in(buf, are_first), arranger(buf)
  for _, hunk in ipairs(hunks) do
    for _, part in ipairs(parts_of[hunk]) do
      remember(buf, known, hunk, { draw.old_lines(buf, NAMESPACE, part, margin, arrange) })
    end
  end
end

---Draws the hunks. Those that are drawn already stay as they are.
---@param buf integer
---@param hunks claude-code.ReviewHunk[] of the text that the buffer has now
---@param reviewing boolean
function M.show(buf, hunks, reviewing)
  local function has(type)
    return #api.nvim_buf_get_extmarks(buf, NAMESPACE, 0, -1, { limit = 1, type = type }) > 0
  end
  local are_first, had_old_lines = not has(nil), has("virt_lines")
  local style, before = style_of(buf, reviewing), drawn_in[buf]
  if not before or before.style ~= style then
    M.clear(buf)
    before = { style = style, hunks = {} }
  end
  drawn_in[buf] = before
  local rest = undrawn(buf, before.hunks, hunks)
  if #rest == 0 then
    return
  elseif not reviewing then
    for _, hunk in ipairs(rest) do
      for _, part in ipairs(signed(hunk)) do
        remember(buf, before.hunks, hunk, mark_signs(buf, part))
      end
    end
    return
  end
  draw_hunks(buf, rest, before.hunks, are_first)
  -- By its first signs the text has moved.
  before.style = style_of(buf, reviewing)
  if not had_old_lines then
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      M.reveal(win, hunks)
    end
  end
end

return M
