--- Text as a terminal hands a paste to its program: between marks, so that line ends in it do not
--- submit anything.
local M = {}

local START, END = "\27[200~", "\27[201~"

--- Control characters are left out, tab and line end aside: with an escape in it, text from a
--- file could end the paste and press keys of its own. U+0080 to U+009F are control characters, too:
--- U+009B begins a sequence as ESC [ does.
---@param text string
---@return string
function M.clean(text)
  text = text:gsub("\r\n?", "\n"):gsub("[%z\1-\8\11-\31\127]", "")
  local count
  repeat
    -- What stood on both sides of one may be another one together.
    text, count = text:gsub("\194[\128-\159]", "")
  until count == 0
  return text
end

---@param text string
---@return string
function M.bracketed(text)
  return START .. M.clean(text) .. END
end

return M
