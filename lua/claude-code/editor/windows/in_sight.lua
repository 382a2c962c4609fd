--- Scrolls a window to lines of which Neovim would show as much as the cursor needs: the first one.
local api = vim.api

---Lines that are shown below them.
local CONTEXT = 3

local M = {}

---Brings the lines from the cursor's on into sight, with what follows them; of too many, the first ones.
---@param win integer
---@param last integer 1-based
function M.show(win, last)
  local cursor = api.nvim_win_get_cursor(win)
  local lowest = math.min(
    last + CONTEXT,
    cursor[1] + api.nvim_win_get_height(win) - 2,
    api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  )
  -- Virtual lines stand above a line, and Neovim draws none above its topmost one.
  for _, line in ipairs({ lowest, cursor[1] - 1 }) do
    api.nvim_win_set_cursor(win, { math.max(line, 1), 0 })
  end
  api.nvim_win_set_cursor(win, cursor)
end

return M
