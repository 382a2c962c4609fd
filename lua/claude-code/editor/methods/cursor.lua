--- The cursor of the current window and the text around it (spec 05: editor/position, /context).
--- Lines are 1-based, columns 0-based in codepoints.
local api = vim.api
local codepoints = require("claude-code.editor.columns.codepoints")
local columns = require("claude-code.editor.columns")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")

---They show what programs print, or lines and names of any files, private ones too.
local SPECIAL = { prompt = true, quickfix = true, terminal = true }

local M = {}

---A terminal, a list of places, a file explorer, or a float of a plugin?
---@param buf integer in it
local function is_special(win, buf)
  return SPECIAL[vim.bo[buf].buftype] ~= nil
    or require("claude-code.explorers").of_buffer(buf) ~= nil
    or vim.fn.isdirectory(api.nvim_buf_get_name(buf)) == 1
    or (api.nvim_win_get_config(win).relative ~= "" and path.of_buffer(buf) == nil)
end

---@return claude-code.Failure? refusal nil if Claude may see the current window's buffer
function M.refusal()
  local win, buf = api.nvim_get_current_win(), api.nvim_get_current_buf()
  if privacy.hides(buf) then
    return privacy.UNNAMED_REFUSAL
  elseif is_special(win, buf) then
    return {
      code = "special",
      message = "the current window shows a terminal, a list or a file explorer: Claude sees only "
        .. "windows with files and text",
    }
  end
end

---@return integer buf
---@return integer lnum 0-based
---@return integer byte 0-based
---@return string line
local function here()
  local buf = api.nvim_get_current_buf()
  local lnum, byte = unpack(api.nvim_win_get_cursor(0))
  local line = lines.at(buf, lnum - 1)
  return buf, lnum - 1, byte, line
end

---@class claude-code.Cursor
---@field line integer
---@field column integer
---@field position integer 1-based character offset in the buffer, or codepoints.UNKNOWN
---@field name string last part of the buffer's name
---@field path? string absolute, if it is a file
---@field total_lines integer

---@param buf integer loaded
---@param lnum integer 0-based
---@param byte integer 0-based
---@return claude-code.Cursor
function M.at(buf, lnum, byte)
  return {
    line = lnum + 1,
    column = columns.of_byte(lines.at(buf, lnum), byte, "utf-32"),
    position = codepoints.offset(buf, lnum, byte),
    name = path.base(api.nvim_buf_get_name(buf)),
    path = path.of_buffer(buf),
    total_lines = api.nvim_buf_line_count(buf),
  }
end

---@return claude-code.Cursor?
---@return claude-code.Failure?
function M.now()
  local failure = M.refusal()
  if failure then
    return nil, failure
  end
  local buf, lnum, byte = here()
  return M.at(buf, lnum, byte)
end

---@class claude-code.Context
---@field line integer
---@field column integer
---@field before string lines before the cursor's, joined by LF
---@field after string
---@field text string the cursor's line
---@field filetype string
---@field function_name? string

---@param params { lines_before: integer, lines_after: integer }
---@return claude-code.Context?
---@return claude-code.Failure?
function M.context(params)
  local failure = M.refusal()
  if failure then
    return nil, failure
  end
  local buf, lnum, byte, line = here()
  local function text(first, last)
    return table.concat(
      api.nvim_buf_get_lines(buf, math.max(first, 0), math.max(last, 0), false),
      "\n"
    )
  end
  return {
    line = lnum + 1,
    column = columns.of_byte(line, byte, "utf-32"),
    before = text(lnum - params.lines_before, lnum),
    after = text(lnum + 1, lnum + 1 + params.lines_after),
    text = line,
    filetype = api.nvim_get_option_value("filetype", { buf = buf }),
    function_name = require("claude-code.editor.methods.enclosing").name(buf, lnum, byte),
  }
end

return M
