--- What is selected, or where the cursor stands, in the protocol's terms.
local api, fn = vim.api, vim.fn
local path = require("claude-code.editor.path")
local position = require("claude-code.editor.position")

---@class claude-code.Position
---@field line integer 0-based
---@field character integer 0-based, UTF-16 code units

---@class claude-code.Selection
---@field path string
---@field text string
---@field start claude-code.Position
---@field end claude-code.Position just behind the last selected character
---@field empty boolean
---@field mode "n"|"v"|"V"|"\22"
---@field buf integer

local M = {}

---@param buf integer
---@param row integer 1-based
---@return string
local function line_at(buf, row)
  return api.nvim_buf_get_lines(buf, row - 1, row, false)[1] or ""
end

---@param buf integer
---@param row integer 1-based
---@param byte integer 0-based
---@return claude-code.Position
local function to_position(buf, row, byte)
  return { line = row - 1, character = position.to_utf16(line_at(buf, row), byte) }
end

---@param buf integer
---@param mode string
---@return claude-code.Position start
---@return claude-code.Position end_
---@return string text
local function visual(buf, mode)
  local from, to = fn.getpos("v"), fn.getpos(".")
  if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  local text = table.concat(fn.getregion(from, to, { type = mode }), "\n")
  if mode == "V" then
    return to_position(buf, from[2], 0), to_position(buf, to[2], math.huge), text
  end
  local line = line_at(buf, to[2])
  local exclusive = vim.o.selection == "exclusive"
  local last = exclusive and to[3] - 1 or position.after(line, to[3] - 1)
  return to_position(buf, from[2], from[3] - 1), to_position(buf, to[2], last), text
end

---The selection of the current window; the cursor's position if nothing is selected.
---@return claude-code.Selection? selection nil if the window shows no file
function M.now()
  local buf = api.nvim_get_current_buf()
  local name = path.of_buffer(buf)
  if not name then
    return nil
  end
  local mode = api.nvim_get_mode().mode:sub(1, 1)
  local selection = { path = name, buf = buf, mode = "n", empty = true, text = "" }
  if mode == "v" or mode == "V" or mode == "\22" then
    selection.mode, selection.empty = mode, false
    selection.start, selection["end"], selection.text = visual(buf, mode)
  else
    local row, byte = unpack(api.nvim_win_get_cursor(0))
    selection.start = to_position(buf, row, byte)
    selection["end"] = selection.start
  end
  return selection
end

return M
