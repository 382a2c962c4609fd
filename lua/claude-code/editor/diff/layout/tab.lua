--- Side by side on a tab page of its own.
local shots = require("claude-code.editor.diff.shot")
local sides = require("claude-code.editor.diff.layout.sides")
local windows = require("claude-code.editor.diff.windows")

local M = { intact = sides.intact, close = sides.close }

---@return boolean
function M.fits()
  return sides.fit(vim.o.columns, vim.o.lines, "right")
end

---@param session claude-code.Diff
---@return claude-code.DiffPlace
function M.open(session)
  local shot = shots.take()
  return sides.open(session, windows.new_tab(session.old_buf), nil, "right", shot)
end

return M
