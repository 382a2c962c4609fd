--- Text for the screen: counts, and untrusted text of programs and projects.
local M = {}

---@param word string in the singular
---@return string "1 file", "2 files"
function M.count(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

--- Replaces invisible characters with codes: control characters, and those that change the direction of text.
function M.visible(text)
  -- Vim functions receive a string with a NUL as a Blob.
  return (vim.fn.strtrans((text:gsub("%z", "\n"))))
end

--- Formats a file for the CLI's prompt (2.1.330). An unquoted name has no blanks, and ends with a word character.
---@param name string may end with lines: `#L2-4`
function M.mention(name)
  local is_plain = name:find("^[%w%p]*[%w_]$") or name:find('"', 1, true)
  return (is_plain and "@%s" or '@"%s"'):format(name)
end

--- A code block of Markdown. Its fence is longer than those in the text.
function M.fenced(text, language)
  local fence = "```"
  while text:find(fence, 1, true) do
    fence = fence .. "`"
  end
  return ("%s%s\n%s\n%s"):format(fence, language, text, fence)
end

--- Splits a command line like a shell: quotes hold a word together, and a backslash quotes a character.
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

--- Cleans untrusted text for one line of the screen.
---@param text any
---@param most integer characters
---@return string? line nil if there is nothing to show
function M.one_line(text, most)
  if type(text) ~= "string" then
    return nil
  end
  -- A character has at most four bytes. U+0080 to U+009F are control characters too: U+009B begins a sequence like
  -- ESC [. U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 change the direction.
  local line = text
    :sub(1, 4 * most)
    :gsub("\194[\128-\159]", " ")
    :gsub("\226\128[\142\143\168-\174]", " ")
    :gsub("\226\129[\166-\169]", " ")
    :gsub("[%c%s]+", " ")
  -- Neovim cannot send invalid UTF-8; iconv() replaces it with "?".
  line = vim.fn.iconv(vim.trim(line), "utf-8", "utf-8")
  line = vim.fn.strcharpart(line, 0, most)
  return line ~= "" and line or nil
end

return M
