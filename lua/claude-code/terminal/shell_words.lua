--- Words of a command line, as a shell splits them: quotes hold a word together, a backslash
--- takes the next character as it is.
local M = {}

---@param text string
---@return string[]
function M.split(text)
  local words, word, quote = {}, nil, nil
  local i = 1
  while i <= #text do
    local char = text:sub(i, i)
    if char == "\\" and quote ~= "'" and i < #text then
      i = i + 1
      word = (word or "") .. text:sub(i, i)
    elseif quote and char == quote then
      quote = nil
    elseif not quote and (char == '"' or char == "'") then
      quote, word = char, word or ""
    elseif not quote and char:match("%s") then
      table.insert(words, word)
      word = nil
    else
      word = (word or "") .. char
    end
    i = i + 1
  end
  table.insert(words, word)
  return words
end

return M
