--- Converts the texts of a diff into lines of a buffer, and accepted lines into a text. The executable keeps the exact
--- string of a proposal that the user does not edit.
local file_lines = require("claude-code.editor.documents.lines")
local hunks = require("claude-code.editor.changes.hunks")

---Limits of a text that is shown: within these, no step of showing it takes 100 ms.
local MAX_BYTES = 1024 * 1024
local MAX_LINES = 20000
---In bytes. Neovim reads a whole line each time it draws it.
local MAX_LINE = 250 * 1000

local M = {}

---@type claude-code.Text a missing file
M.NOTHING = { lines = { "" }, crlf = false, bom = false, newline = false }

M.parse, M.same_lines = file_lines.parse, file_lines.are_same

local function has_text(some)
  return some.newline or not M.same_lines(some.lines, M.NOTHING.lines)
end

---Why a text is too big to be shown.
local function problem_with(text)
  local lines, longest = 0, 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    lines, longest = lines + 1, math.max(longest, #line)
  end
  if lines > MAX_LINES + 1 then
    return ("more than %d lines"):format(MAX_LINES)
  elseif longest > MAX_LINE then
    return ("a line of more than %d KB"):format(MAX_LINE / 1000)
  end
end

---@param old claude-code.Text
---@param new claude-code.Text
---@return string? what differs besides the lines, in a few words
function M.change_of_ends(old, new)
  if old.newline ~= new.newline then
    return new.newline and "last newline added" or "last newline removed"
  elseif old.crlf ~= new.crlf then
    return new.crlf and "line ends: LF to CRLF" or "line ends: CRLF to LF"
  elseif old.bom ~= new.bom then
    return new.bom and "byte order mark added" or "byte order mark removed"
  end
end

---Decodes UTF-16 with a byte order mark; anything else stays as it is.
local function decode(bytes)
  local is_swapped = vim.startswith(bytes, "\254\255")
  if not is_swapped and not vim.startswith(bytes, "\255\254") then
    return bytes
  end
  -- For Neovim, "utf-16be" is "utf-16", which is little-endian in many versions of iconv().
  local text = is_swapped and bytes:gsub("(.)(.)", "%2%1") or bytes
  -- At a lone surrogate vim.iconv() crashes Neovim (0.10 to 0.12).
  local any, range = vim.lpeg.P(1), vim.lpeg.R
  local pair = any * range("\216\219") * any * range("\220\223")
  local whole = (any * range("\0\215", "\224\255") + pair) ^ 0 * -1
  return whole:match(text) and vim.iconv(text:sub(3), "utf-16le", "utf-8") or bytes
end

local TOO_MANY_BYTES = ("more than %d MB"):format(MAX_BYTES / 2 ^ 20)

---@return string? bytes nil if the file is missing, not a regular file, or too big
---@return string? problem
local function read(path)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type == "file" and stat.size > MAX_BYTES then
    return nil, TOO_MANY_BYTES
  end
  local bytes = require("claude-code.lib.regular_file").read(path, MAX_BYTES)
  local problem = bytes and problem_with(bytes)
  return not problem and bytes or nil, problem
end

---@return string? problem why showing it would block Neovim for too long
function M.too_big(text)
  return #text > MAX_BYTES and TOO_MANY_BYTES or problem_with(text)
end

---@return string? problem the same for a file on disk
function M.file_too_big(path)
  return select(2, read(path))
end

---@param keep_cr boolean even if every line end is CRLF
---@return claude-code.Text? text nil if the file is missing, not a regular file, or too big
---@return string? problem it is too big
function M.of_file(path, keep_cr)
  local bytes, problem = read(path)
  return bytes and M.parse(decode(bytes), keep_cr), problem
end

---Do the lines end with the last line of `other`?
local function ends_as(lines, other)
  -- Add a line before them, since a single empty line counts as no text.
  local old, new = vim.list_extend({ "" }, other), vim.list_extend({ "" }, lines)
  local list = hunks.between(old, new)
  return #list == 0 or select(2, hunks.rows(list[#list])) < #new
end

---Returns the text of accepted lines, with the proposal's byte order mark, line ends and last newline: Claude Code
---takes anything else as the user's edit (measured with 2.1.330).
---@param old claude-code.Text the file on disk
---@param proposed claude-code.Text
---@return string
function M.accepted(lines, old, proposed)
  if M.same_lines(lines, proposed.lines) then
    return file_lines.join(lines, proposed, proposed.newline)
  end
  -- A last newline belongs to its line, which is the proposal's unless the user put the old file's end back. Comparing
  -- that line alone is not enough: many files end with a line that they also have before.
  local newline = proposed.newline or not has_text(proposed)
  local differs = has_text(old) and old.newline ~= proposed.newline
  if differs and ends_as(lines, old.lines) and not ends_as(proposed.lines, old.lines) then
    newline = old.newline
  end
  return file_lines.join(lines, proposed, newline)
end

return M
