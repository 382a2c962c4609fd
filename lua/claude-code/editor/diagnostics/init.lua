--- A buffer's diagnostics in the protocol's terms.
local api = vim.api
local columns = require("claude-code.editor.columns")
local regular_file = require("claude-code.lib.regular_file")

---Text of a file that no buffer holds is read for its columns up to this size, in bytes.
local READ_LIMIT = 4 * 1024 * 1024

---@class claude-code.Diagnostic 0-based lines, UTF-16 columns, end exclusive
---@field lnum integer
---@field col integer
---@field end_lnum integer
---@field end_col integer
---@field severity 1|2|3|4
---@field message string
---@field source? string
---@field code? string

local M = {}

---@class claude-code.Lines
---@field count integer? unknown for a file that cannot be read
---@field at fun(lnum: integer): string? text of a 0-based line, fetched once
---@field ascii table<integer, boolean> by line, where it is known: columns are bytes there

---@param buf integer
---@return claude-code.Lines
local function lines_of(buf)
  if not api.nvim_buf_is_loaded(buf) then
    local text = regular_file.read(api.nvim_buf_get_name(buf), READ_LIMIT)
    local lines = text and vim.split(text, "\r?\n")
    return {
      count = lines and #lines,
      at = function(lnum)
        return lines and lines[lnum + 1]
      end,
      ascii = {},
    }
  end
  local seen = {} ---@type table<integer, string>
  return {
    count = api.nvim_buf_line_count(buf),
    at = function(lnum)
      local line = seen[lnum]
      if not line then
        line = api.nvim_buf_get_lines(buf, lnum, lnum + 1, false)[1] or ""
        seen[lnum] = line
      end
      return line
    end,
    ascii = {},
  }
end

---@param lines claude-code.Lines
---@param lnum integer
---@param col integer byte column
---@return integer lnum, integer col clamped to the text; UTF-16 column
local function convert(lines, lnum, col)
  if lnum < 0 then
    return 0, 0
  end
  if lines.count and lnum >= lines.count then
    lnum, col = math.max(lines.count - 1, 0), math.huge
  end
  if col <= 0 then
    return lnum, 0
  end
  local line = lines.at(lnum)
  if not line then
    return lnum, col
  end
  local ascii = lines.ascii[lnum]
  if ascii == nil then
    ascii = columns.is_ascii(line)
    lines.ascii[lnum] = ascii
  end
  return lnum, ascii and math.min(col, #line) or columns.of_byte(line, col, "utf-16")
end

---@param item vim.Diagnostic
---@param lines claude-code.Lines
---@return claude-code.Diagnostic
local function translate(item, lines)
  local lnum, col = convert(lines, item.lnum, item.col or 0)
  local end_lnum, end_col =
    convert(lines, item.end_lnum or item.lnum, item.end_col or item.col or 0)
  local code = item.code
  return {
    lnum = lnum,
    col = col,
    end_lnum = end_lnum,
    end_col = end_col,
    severity = item.severity or vim.diagnostic.severity.ERROR,
    message = tostring(item.message),
    source = type(item.source) == "string" and item.source or nil,
    code = (type(code) == "string" or type(code) == "number") and tostring(code) or nil,
  }
end

---All diagnostics of a buffer, in Neovim's order.
---@param buf integer
---@return claude-code.Diagnostic[]
function M.items(buf)
  local items = vim.diagnostic.get(buf)
  if #items == 0 then
    return items
  end
  local lines = lines_of(buf)
  for i, item in ipairs(items) do
    items[i] = translate(item, lines)
  end
  return items
end

return M
