--- Text as a terminal hands a paste to its program: between marks, so that line ends in it do not
--- submit anything.
local M = {}

local START, END = "\27[200~", "\27[201~"

--- Control characters are left out, tab and line end aside: with an escape in it, text from a
--- file could end the paste and press keys of its own.
---@param text string
---@return string
function M.clean(text)
  return (text:gsub("\r\n?", "\n"):gsub("[%z\1-\8\11-\31\127]", ""))
end

---@param text string
---@return string
function M.bracketed(text)
  return START .. M.clean(text) .. END
end

return M
