--- Describes the selection, or the cursor, at one moment.
local api = vim.api
local columns = require("claude-code.editor.columns")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local visual = require("claude-code.editor.selection.visual")

---@class claude-code.Snapshot : table `Selection` of src/editor/model.ts
---@field mode "n"|claude-code.VisualMode
---@field buf integer
---@field at { [1]: integer, [2]: integer } cursor: 0-based line, byte

local M = {}

local function to_position(buf, at)
  return { line = at[1], character = columns.of_byte(lines.at(buf, at[1]), at[2], "utf-16") }
end

---@param span? claude-code.Span nil: only the cursor
local function describe(win, mode, span)
  local buf, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  local at = { cursor[1] - 1, cursor[2] }
  span = span or { first = at, last = at, text = "" }
  return {
    buf = buf,
    path = path.of_buffer(buf) or "",
    mode = mode,
    at = at,
    text = span.text,
    empty = span.text == "",
    truncated = span.truncated,
    start = to_position(buf, span.first),
    ["end"] = to_position(buf, span.last),
  }
end

---@param win integer shows a file
---@return claude-code.Snapshot of the cursor, without a selection
function M.of_cursor(win)
  return describe(win, "n")
end

---@param region claude-code.VisualRegion in the current window
---@return claude-code.Snapshot
function M.of_region(region)
  return describe(0, region.mode, visual.read(region))
end

---@return boolean is_same a client would receive the same
function M.same(a, b)
  if not a or not b then
    return a == b
  end
  return vim.iter({ "path", "mode", "text", "start", "end", "at" }):all(function(name)
    return vim.deep_equal(a[name], b[name])
  end)
end

---@return integer offset, integer column
local function locate(buf, place)
  local line = lines.at(buf, place.line)
  local byte = columns.to_byte(line, place.character, "utf-16")
  return columns.offset(buf, place.line, byte), columns.of_byte(line, byte, "utf-32")
end

---@param selection claude-code.Snapshot?
---@return table `Region` of src/editor/model.ts
function M.region(selection)
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

---@param snapshot claude-code.Snapshot? nil: no file is selected any more
---@param detailed? boolean counts characters, which takes longer in a longer buffer
---@return table `Selection` of src/editor/model.ts
function M.to_wire(snapshot, detailed)
  if not snapshot then
    local nowhere = { line = 0, character = 0 }
    return { path = "", text = "", start = nowhere, ["end"] = nowhere, empty = true, mode = "n" }
  elseif not detailed or not api.nvim_buf_is_loaded(snapshot.buf) then
    return snapshot
  end
  local cursor = require("claude-code.editor.methods.cursor")
  return vim.tbl_extend("force", snapshot, {
    region = M.region(snapshot),
    cursor = cursor.at(snapshot.buf, snapshot.at[1], snapshot.at[2]),
  })
end

return M
