--- Text for the screen: counted things, and text of a program or a project, which may hold anything.
local M = {}

---@param count integer
---@param word string of one
---@return string "1 file", "2 files"
function M.count(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

--- Text with codes in the place of what nobody would see: control characters, NUL too, and those that turn the
--- direction of text.
---@param text string
---@return string
function M.visible(text)
  -- With a NUL it would be a Blob to a function of Vim's.
  return (vim.fn.strtrans((text:gsub("%z", "\n"))))
end

--- A file as the CLI (2.1.330) reads it in a prompt: one without quotes ends at a blank, and with a letter.
---@param name string `#L2-4` at its end names lines
---@return string
function M.mention(name)
  local is_plain = name:find("^[%w%p]*[%w_]$") or name:find('"', 1, true)
  return (is_plain and "@%s" or '@"%s"'):format(name)
end

--- A code block of Markdown, whose fence is longer than those in the text.
---@param text string
---@param language string
---@return string
function M.fenced(text, language)
  local fence = "```"
  while text:find(fence, 1, true) do
    fence = fence .. "`"
  end
  return ("%s%s\n%s\n%s"):format(fence, language, text, fence)
end

--- Splits a command line as a shell does: quotes hold a word together, a backslash takes the next character as it is.
---@param text string
---@return string[]
function M.words(text)
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

--- Text that a program reports of itself, for one line of the screen. It may hold anything.
---@param text any
---@param most integer characters
---@return string? line nil if there is nothing to show
function M.one_line(text, most)
  if type(text) ~= "string" then
    return nil
  end
  -- Four bytes a character at most. U+0080 to U+009F are control characters, too: U+009B begins a
  -- sequence as ESC [ does. U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 turn the direction.
  local line = text
    :sub(1, 4 * most)
    :gsub("\194[\128-\159]", " ")
    :gsub("\226\128[\142\143\168-\174]", " ")
    :gsub("\226\129[\166-\169]", " ")
    :gsub("[%c%s]+", " ")
  -- UTF-8 as Neovim can send it on: what is not becomes "?".
  line = vim.fn.iconv(vim.trim(line), "utf-8", "utf-8")
  line = vim.fn.strcharpart(line, 0, most)
  return line ~= "" and line or nil
end

return M
