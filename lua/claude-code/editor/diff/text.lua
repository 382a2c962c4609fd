--- Text as lines for a buffer, for display only: the executable keeps the exact string.
--- The rule for line ends is the same as in src/ide/proposal.ts.
local BOM = "\239\187\191"

---What is bigger is not shown: each step on the way there takes Neovim 30 to 50 ms for as much.
local MOST_BYTES = 4 * 1024 * 1024
local MOST_LINES = 64000
---In bytes. Neovim goes through a long line each time it draws it.
local LONGEST_LINE = 250 * 1000

local M = {}

---@class claude-code.Text
---@field lines string[] at least one; NUL bytes stay, they are Neovim's to show
---@field crlf boolean every line end is CRLF (stripped, unless kept on demand); otherwise a CR is part of its line
---@field bom boolean
---@field newline boolean the last line ends with a newline

---@type claude-code.Text a file that is not there
M.NOTHING = { lines = { "" }, crlf = false, bom = false, newline = false }

---@param a string[]
---@param b string[]
---@return boolean
function M.same_lines(a, b)
  if a == b then
    return true
  elseif #a ~= #b then
    return false
  end
  for i, line in ipairs(a) do
    if line ~= b[i] then
      return false
    end
  end
  return true
end

---@param a claude-code.Text
---@param b claude-code.Text
---@return boolean
function M.is_same(a, b)
  return M.change_of_ends(a, b) == nil and M.same_lines(a.lines, b.lines)
end

---@param some claude-code.Text
---@return boolean
function M.has_text(some)
  return some.newline or not M.same_lines(some.lines, M.NOTHING.lines)
end

---In lines: so many between two pauses.
local PIECE = 100

---@param text string
---@param pause fun()
---@return boolean
local function is_crlf(text, pause)
  -- A pattern such as "[^\r]\n" takes 30 ms for a line of 1 MB.
  local at = text:find("\n", 1, true)
  if not at then
    return false
  end
  local count = 0
  while at do
    if text:byte(at - 1) ~= 13 then
      return false
    end
    at, count = text:find("\n", at + 1, true), count + 1
    if count % PIECE == 0 then
      pause()
    end
  end
  return true
end

---@param text string
---@param eol string
---@param length integer of the text that counts, in bytes: without a last line end
---@param pause fun()
---@return string[]
local function split(text, eol, length, pause)
  local lines, from = {}, 1
  while true do
    local first, last = text:find(eol, from, true)
    if not first or first > length then
      lines[#lines + 1] = text:sub(from, length)
      return lines
    end
    lines[#lines + 1] = text:sub(from, first - 1)
    from = last + 1
    if #lines % PIECE == 0 then
      pause()
    end
  end
end

---@param text string
---@return string? problem why it is too big to be shown
local function problem_with(text)
  local lines, longest, from = 1, 0, 1
  local at = text:find("\n", 1, true)
  while at do
    lines, longest, from = lines + 1, math.max(longest, at - from), at + 1
    at = text:find("\n", from, true)
  end
  longest = math.max(longest, #text - from + 1)
  if lines > MOST_LINES + 1 then
    return ("more than %d lines"):format(MOST_LINES)
  elseif longest > LONGEST_LINE then
    return ("a line of more than %d KB"):format(LONGEST_LINE / 1000)
  end
end

---@param text string UTF-8, any line ends
---@param keep_cr? boolean even if every line end is CRLF
---@param pause? fun() called now and then
---@return claude-code.Text
function M.parse(text, keep_cr, pause)
  pause = pause or function() end
  local bom = text:sub(1, #BOM) == BOM
  if bom then
    text = text:sub(#BOM + 1)
  end
  local crlf = not keep_cr and is_crlf(text, pause)
  local eol = crlf and "\r\n" or "\n"
  local newline = text:sub(-1) == "\n"
  local lines = split(text, eol, newline and #text - #eol or #text, pause)
  return { lines = lines, crlf = crlf, bom = bom, newline = newline }
end

---The other way round: the very text, unless its ends are mixed up in its lines.
---@param lines string[]
---@param like claude-code.Text
---@param newline boolean does the last line end with one?
---@return string
function M.join(lines, like, newline)
  local eol = like.crlf and "\r\n" or "\n"
  return (like.bom and BOM or "") .. table.concat(lines, eol) .. (newline and eol or "")
end

---@param old claude-code.Text
---@param new claude-code.Text
---@return string? what differs beside the lines, in a few words
function M.change_of_ends(old, new)
  if old.newline ~= new.newline then
    return new.newline and "last newline added" or "last newline removed"
  elseif old.crlf ~= new.crlf then
    return new.crlf and "line ends: LF to CRLF" or "line ends: CRLF to LF"
  elseif old.bom ~= new.bom then
    return new.bom and "byte order mark added" or "byte order mark removed"
  end
end

---@param bytes string
---@return string utf8 UTF-16 with a byte order mark decoded, anything else as it is
local function decode(bytes)
  local mark = bytes:sub(1, 2)
  local from = mark == "\255\254" and "utf-16le" or mark == "\254\255" and "utf-16be"
  return from and vim.iconv(bytes:sub(3), from, "utf-8") or bytes
end

local TOO_MANY_BYTES = ("more than %d MB"):format(MOST_BYTES / 2 ^ 20)

---@param path string
---@return string? bytes nil if the file is not there, no file, or too big
---@return string? problem
local function read(path)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type == "file" and stat.size > MOST_BYTES then
    return nil, TOO_MANY_BYTES
  end
  local bytes = require("claude-code.lib.regular_file").read(path, MOST_BYTES)
  local problem = bytes and problem_with(bytes)
  return not problem and bytes or nil, problem
end

---@param text string
---@return string? problem why Neovim would stand still for too long if it was shown
function M.too_big(text)
  return #text > MOST_BYTES and TOO_MANY_BYTES or problem_with(text)
end

---@param path string
---@return string? problem the same of a file on disk
function M.file_too_big(path)
  return select(2, read(path))
end

---The text of a file on disk.
---@param path string
---@param keep_cr boolean as in `parse`
---@param pause? fun() as in `parse`
---@return claude-code.Text? text nil if the file is not there, no file, or too big
---@return string? problem it is too big
function M.of_file(path, keep_cr, pause)
  local bytes, problem = read(path)
  if pause then
    pause()
  end
  return bytes and M.parse(decode(bytes), keep_cr, pause), problem
end

return M
