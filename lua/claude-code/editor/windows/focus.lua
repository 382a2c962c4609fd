--- Moving the cursor into a diff and back to where the person was.
local api = vim.api
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Origin
---@field win integer
---@field terminal boolean it was in terminal mode

---Window that terminal mode is on its way back to: until then `mode()` does not say so.
local returning ---@type integer?

---@return claude-code.Origin
function M.origin()
  local win = api.nvim_get_current_win()
  local terminal = api.nvim_get_mode().mode == "t" or returning == win
  return { win = win, terminal = terminal }
end

---@param session claude-code.Diff
---@param origin claude-code.Origin
function M.take(session, origin)
  returning = nil
  if origin.terminal then
    vim.cmd.stopinsert()
  end
  windows.quietly(function()
    api.nvim_set_current_win(session.place.focus)
  end)
end

---Is the cursor in one of the diff's windows, or in another that shows a side of it?
---@param session claude-code.Diff
---@return boolean
function M.is_inside(session)
  local buf = api.nvim_get_current_buf()
  return vim.tbl_contains(session.place.windows, api.nvim_get_current_win())
    or buf == session.old_buf
    or buf == session.new_buf
end

---Back to the window, the "previous window" and the mode of before. With autocommands off.
---@param origin claude-code.Origin
---@param shot claude-code.WindowShot
function M.give_back(origin, shot)
  if not api.nvim_win_is_valid(origin.win) then
    return
  end
  if shot.previous ~= 0 and api.nvim_win_is_valid(shot.previous) then
    api.nvim_set_current_win(shot.previous)
  end
  api.nvim_set_current_win(origin.win)
  if origin.terminal and vim.bo[api.nvim_win_get_buf(origin.win)].buftype == "terminal" then
    returning = origin.win
    vim.cmd.startinsert()
    vim.defer_fn(function()
      returning = nil
    end, 100)
  end
end

return M
