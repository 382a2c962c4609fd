--- Text as lines for a buffer, for display only: the executable keeps the exact string.
--- The rule for line ends is the same as in src/ide/proposal.ts.
local BOM = "\239\187\191"

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
  if #a ~= #b then
    return false
  end
  for i, line in ipairs(a) do
    if line ~= b[i] then
      return false
    end
  end
  return true
end

---@param some claude-code.Text
---@return boolean
function M.has_text(some)
  return some.newline or not M.same_lines(some.lines, M.NOTHING.lines)
end

---@param text string
---@return boolean
local function is_crlf(text)
  return text:find("\n", 1, true) ~= nil and not text:find("^\n") and not text:find("[^\r]\n")
end

---@param text string UTF-8, any line ends
---@param keep_cr? boolean even if every line end is CRLF
---@return claude-code.Text
function M.parse(text, keep_cr)
  local bom = text:sub(1, #BOM) == BOM
  if bom then
    text = text:sub(#BOM + 1)
  end
  local crlf = not keep_cr and is_crlf(text)
  local newline = text:sub(-1) == "\n"
  if newline then
    text = text:sub(1, crlf and -3 or -2)
  end
  local lines = vim.split(text, crlf and "\r\n" or "\n", { plain = true })
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

---The text of a file on disk.
---@param path string
---@param keep_cr boolean as in `parse`
---@return claude-code.Text? text nil if the file is not there or no file
function M.of_file(path, keep_cr)
  local stat = vim.uv.fs_stat(path)
  local file = stat and stat.type == "file" and io.open(path, "rb")
  if not file then
    return nil
  end
  -- No more than there is said to be: some special files never end.
  local bytes = stat.size == 0 and "" or file:read(stat.size)
  file:close()
  return bytes and M.parse(decode(bytes), keep_cr)
end

return M
