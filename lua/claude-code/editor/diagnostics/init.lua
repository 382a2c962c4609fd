--- Converts a buffer's diagnostics to the columns of LSP.
local api = vim.api
local columns = require("claude-code.editor.columns")
local lines = require("claude-code.editor.documents.lines")
local regular_file = require("claude-code.lib.regular_file")

---The limit for an unloaded file that is read to convert columns, in bytes.
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
---@field count integer? nil: the file cannot be read
---@field at fun(lnum: integer): { text?: string, is_ascii?: boolean } 0-based, cached; text is nil if unknown

local function lines_of(buf)
  local is_loaded = api.nvim_buf_is_loaded(buf)
  local text = not is_loaded and regular_file.read(api.nvim_buf_get_name(buf), READ_LIMIT)
  local on_disk = text and vim.split(text, "\r?\n") or {}
  local seen = {} ---@type table<integer, { text?: string, is_ascii?: boolean }>
  return {
    count = is_loaded and api.nvim_buf_line_count(buf) or text and #on_disk or nil,
    at = function(lnum)
      if not seen[lnum] then
        local line = is_loaded and lines.at(buf, lnum) or on_disk[lnum + 1]
        seen[lnum] = { text = line, is_ascii = line and columns.count(line) == #line }
      end
      return seen[lnum]
    end,
  }
end

---@param col integer in bytes
---@return integer lnum, integer col in UTF-16, both clamped to the text
local function convert(list, lnum, col)
  if lnum < 0 then
    return 0, 0
  elseif list.count and lnum >= list.count then
    lnum, col = math.max(list.count - 1, 0), math.huge
  end
  local line = col > 0 and list.at(lnum) or {}
  if not line.text then
    return lnum, math.max(col, 0)
  end
  return lnum,
    line.is_ascii and math.min(col, #line.text) or columns.of_byte(line.text, col, "utf-16")
end

local function translate(item, list)
  local lnum, col = convert(list, item.lnum, item.col)
  local end_lnum, end_col = convert(list, item.end_lnum, item.end_col)
  local code = item.code
  return {
    lnum = lnum,
    col = col,
    end_lnum = end_lnum,
    end_col = end_col,
    severity = item.severity,
    message = tostring(item.message),
    source = type(item.source) == "string" and item.source or nil,
    code = (type(code) == "string" or type(code) == "number") and tostring(code) or nil,
  }
end

---@return claude-code.Diagnostic[] in Neovim's order
function M.items(buf)
  local items = vim.diagnostic.get(buf)
  local list = #items > 0 and lines_of(buf)
  return vim.tbl_map(function(item)
    return translate(item, list)
  end, items)
end

return M
