--- The quickfix window of a review, below all others. Where the screen is low it is lower: the files are
--- what is read, and the list scrolls.
local list = require("claude-code.editor.review.list")

---Rows of the list.
local LEAST, MOST = 3, 10
---A list takes this part of the screen at most.
local PART = 0.25

local M = {}

---Closes it if it shows the list of the review, in other tab pages, too.
function M.close()
  for _, info in ipairs(list.is_current() and vim.fn.getwininfo() or {}) do
    if info.quickfix == 1 and info.loclist == 0 then
      pcall(vim.api.nvim_win_close, info.winid, false)
    end
  end
end

---@param count integer of entries
function M.open(count)
  M.close()
  list.choose()
  local most = math.min(MOST, math.floor(vim.o.lines * PART))
  vim.cmd(("botright copen %d"):format(math.max(LEAST, math.min(count, most))))
end

return M
