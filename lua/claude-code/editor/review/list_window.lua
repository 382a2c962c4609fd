--- The quickfix window of a review. The files are what is read: where the screen is low, a terminal of
--- Claude's above or below gives them its rows, then the list does, which scrolls.
local list = require("claude-code.editor.review.list")
local size = require("claude-code.terminal.size")
local terminal = require("claude-code.terminal.window")
local windows = require("claude-code.editor.windows")

---Rows of the list.
local LEAST, MOST = 3, 10
---Rows that a file is to have, and those that Claude's terminal keeps: the CLI's prompt.
local FOR_FILE, FOR_TERMINAL = 15, 5

local M = {}

---Closes it if it shows the list of the review, in other tab pages, too.
function M.close()
  for _, info in ipairs(list.is_current() and vim.fn.getwininfo() or {}) do
    if info.quickfix == 1 and info.loclist == 0 then
      pcall(vim.api.nvim_win_close, info.winid, false)
    end
  end
  size.grow("review")
end

---@param count integer of entries
function M.open(count)
  M.close()
  list.choose()
  local rows = math.min(math.max(count, LEAST), MOST)
  local file, claude = windows.for_file(), terminal.above_or_below()
  if not file then
    return vim.cmd(("botright copen %d"):format(rows))
  end
  local height = claude and size.get(claude, "height") or 0
  local both = size.get(file, "height") + height - rows - 1
  local kept = math.min(height, math.max(FOR_TERMINAL, both - FOR_FILE))
  local missing = math.min(math.max(FOR_FILE - (both - kept), 0), rows - LEAST)
  if claude and kept < height then
    size.shrink("review", claude, "height", height - kept)
  end
  vim.cmd(("botright copen %d"):format(rows - missing))
  size.set(file, "height", both - kept + missing)
end

return M
