--- The hunks of the user's buffers, as they were shown last.
local buffers = require("claude-code.editor.review.buffer")

local M = { of = buffers.hunks, find = buffers.hunk_at }

---@param buf integer
---@param row integer
---@return claude-code.ReviewHunk?
function M.at(buf, row)
  return M.find(M.of(buf), row)
end

return M
