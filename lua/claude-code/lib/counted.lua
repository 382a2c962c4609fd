--- A number of things, in words.
local M = {}

---@param count integer
---@param word string of one
---@return string "1 file", "2 files"
function M.of(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

return M
