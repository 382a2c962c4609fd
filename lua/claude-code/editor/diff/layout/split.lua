--- Two sides in the place of the file's window, which is borrowed for that.
local api = vim.api
local own_tab = require("claude-code.editor.diff.tab")
local shots = require("claude-code.editor.windows.layout")
local sides = require("claude-code.editor.diff.layout.sides")
local windows = require("claude-code.editor.windows")

local M = {}

---@param session claude-code.Diff
---@param except? integer
---@return integer width of the place for both sides
---@return integer height
local function room(session, except)
  if windows.has_diff() then
    return vim.o.columns, vim.o.lines - vim.o.cmdheight - 2
  end
  local win = windows.for_file(session.target, except)
  if win then
    return api.nvim_win_get_width(win), api.nvim_win_get_height(win)
  end
  return windows.room_beside()
end

---@param direction claude-code.SplitDirection
---@return claude-code.DiffLayoutModule
function M.layout(direction)
  return {
    intact = sides.intact,
    close = sides.close,
    fits = function(session, except)
      local width, height = room(session, except)
      return sides.fit(width, height, direction)
    end,
    open = function(session, except)
      local shot = shots.save()
      local win, borrowed
      if windows.has_diff() then
        win = own_tab.open(session.old_buf, function(width, height)
          return sides.fit(width, height, direction)
        end)
      else
        win, borrowed = windows.take(session.old_buf, session.target, except)
      end
      return sides.open(session, win, borrowed, direction, shot)
    end,
  }
end

return M
