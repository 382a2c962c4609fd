--- Scrolls a window to a hunk: to its lines, to a change far to the right in them, and to the old lines above them.
local api, fn = vim.api, vim.fn
local file_lines = require("claude-code.editor.documents.lines")

---Lines that are shown below a hunk.
local CONTEXT = 3

---Cells of a change that must be visible.
local MIN_VISIBLE = 10

---A change after this byte of its line is not revealed, since Neovim draws such lines slowly.
local FARTHEST = 20000

local M = {}

---Shows the lines from the cursor to `last` and CONTEXT more, or as many as fit.
---@param last integer 1-based
local function show_lines(win, last)
  local cursor = api.nvim_win_get_cursor(win)
  local lowest = math.min(
    last + CONTEXT,
    cursor[1] + api.nvim_win_get_height(win) - 2,
    api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  )
  -- Neovim draws no virtual lines above the topmost line.
  for _, line in ipairs({ lowest, cursor[1] - 1 }) do
    api.nvim_win_set_cursor(win, { math.max(line, 1), 0 })
  end
  api.nvim_win_set_cursor(win, cursor)
end

---Scrolls sideways to a change that 'nowrap' hides, with the cursor, which Neovim keeps in sight.
---@param row integer 1-based
---@param other string its counterpart, old or new
function M.changed_part(win, row, other)
  local line = file_lines.at(api.nvim_win_get_buf(win), row - 1)
  local column = file_lines.common(line, other)
  if column >= FARTHEST then
    return
  end
  local width = api.nvim_win_get_width(win) - fn.getwininfo(win)[1].textoff
  api.nvim_win_call(win, function()
    -- Vim script has a line feed for a NUL.
    local cells = fn.strdisplaywidth((line:sub(1, column):gsub("%z", "\n")))
    if not vim.wo.wrap and cells + MIN_VISIBLE > width then
      api.nvim_win_set_cursor(win, { row, column })
      fn.winrestview({ leftcol = cells - math.floor(width / 2) })
    end
  end)
end

---@param hunk claude-code.DrawnHunk whose first line has the cursor
function M.hunk(win, hunk)
  show_lines(win, hunk.new + math.max(hunk.new_count, 1) - 1)
  if hunk.old_lines[1] and hunk.new_count > 0 then
    M.changed_part(win, hunk.new, hunk.old_lines[1])
  end
end

---Scrolls to the old lines above the first row of a window if the cursor is on that row. Neovim itself does not.
---@param namespace integer of the old lines
function M.old_lines_on_top(win, namespace)
  local view = api.nvim_win_call(win, fn.winsaveview)
  if view.lnum ~= view.topline then
    return
  end
  local row, above = { view.topline - 1, 0 }, 0
  local buf = api.nvim_win_get_buf(win)
  for _, mark in ipairs(api.nvim_buf_get_extmarks(buf, namespace, row, row, { details = true })) do
    above = above + (mark[4].virt_lines_above and #mark[4].virt_lines or 0)
  end
  local fill = math.min(above, api.nvim_win_get_height(win) - 2)
  if fill > view.topfill then
    api.nvim_win_call(win, function()
      fn.winrestview({ topline = view.topline, topfill = fill })
    end)
  end
end

return M
