--- A selection in the terms of spec 05 (editor/selection): lines 1-based, columns 0-based in
--- characters, start and end 1-based character offsets; the end is just behind the last character.
local api = vim.api
local codepoints = require("claude-code.editor.columns.codepoints")
local utf16 = require("claude-code.editor.columns.utf16")

local M = {}

---@class claude-code.Region
---@field active boolean false: nothing is selected, and the other fields are absent
---@field start? integer or codepoints.UNKNOWN
---@field end? integer the same
---@field text? string
---@field truncated? true the text was cut at `selection.max_bytes`; the ends are not
---@field line_start? integer
---@field line_end? integer
---@field column_start? integer
---@field column_end? integer

---@param buf integer
---@param place claude-code.Position
---@return integer offset
---@return integer column
local function locate(buf, place)
  local line = api.nvim_buf_get_lines(buf, place.line, place.line + 1, false)[1] or ""
  local byte = utf16.to_byte(line, place.character)
  return codepoints.offset(buf, place.line, byte), codepoints.column(line, byte)
end

---@param selection claude-code.Selection?
---@return claude-code.Region
function M.of(selection)
  if not selection or selection.empty then
    return { active = false }
  end
  local first, last = selection.start, selection["end"]
  local region = { active = true, text = selection.text, truncated = selection.truncated }
  region.start, region.column_start = locate(selection.buf, first)
  region["end"], region.column_end = locate(selection.buf, last)
  region.line_start, region.line_end = first.line + 1, last.line + 1
  return region
end

return M
