--- Side by side on a tab page of its own.
local own_tab = require("claude-code.editor.diff.tab")
local shots = require("claude-code.editor.windows.layout")
local sides = require("claude-code.editor.diff.layout.sides")

local M = { intact = sides.intact, close = sides.close }

---@return boolean
function M.fits()
  return sides.fit(vim.o.columns, vim.o.lines, "right")
end

---@param session claude-code.Diff
---@return claude-code.DiffPlace
function M.open(session)
  local shot = shots.save()
  local win = own_tab.open(session.old_buf, function(width, height)
    return sides.fit(width, height, "right")
  end)
  return sides.open(session, win, nil, "right", shot)
end

return M
