--- Whether words that no server listed among the uses of a symbol are uses all the same: a server may not
--- have read a new file yet, or keep it for another project. To open the file lets it look.
local open = require("claude-code.editor.language.open")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local symbols = require("claude-code.editor.language.symbol")
local task = require("claude-code.editor.language.task")

local M = {}

---@alias claude-code.Verdict "same"|"other"|"unknown"

---@class claude-code.DoubtfulUse
---@field path string
---@field line integer 1-based, as on disk
---@field column integer in UTF-16 code units

---@class claude-code.SymbolDefinition
---@field path string
---@field line integer 1-based, as on disk
---@field character integer as its server counts

---@class claude-code.VerifyParams
---@field definitions claude-code.SymbolDefinition[]
---@field uses claude-code.DoubtfulUse[]

---@param name string
---@param row integer
---@param character integer
---@return string
local function key_of(name, row, character)
  return ("%s\0%d\0%d"):format(path.real(name), row, character)
end

---@param places claude-code.Place[]
---@param definitions table<string, true>
---@return claude-code.Verdict
local function verdict_on(places, definitions)
  for _, place in ipairs(places) do
    if place.path and definitions[key_of(place.path, place.row, place.character)] then
      return "same"
    end
  end
  return #places > 0 and "other" or "unknown"
end

---@param use claude-code.DoubtfulUse
---@param definitions table<string, true>
---@return claude-code.Verdict
local function verify(use, definitions)
  local buf = task.time_left() > 1000 and open.file({ use.path }) or nil
  -- Of unsaved text the lines on disk say nothing here.
  if not buf or vim.bo[buf].modified then
    return "unknown"
  end
  local line = vim.api.nvim_buf_get_lines(buf, use.line - 1, use.line, false)[1]
  if not line then
    return "unknown"
  end
  local col = require("claude-code.editor.columns.utf16").to_byte(line, use.column)
  local groups = symbols.groups(buf, { { row = use.line - 1, col = col } })
  return verdict_on(groups[1] and groups[1].places or {}, definitions)
end

---In a task.
---@param params claude-code.VerifyParams
---@return claude-code.Verdict[] in the order of the uses
function M.uses(params)
  local definitions = {}
  for _, place in ipairs(params.definitions) do
    local buf = path.loaded_buffer(place.path)
    local row = buf and position.row(buf, place.line) or place.line - 1
    definitions[key_of(place.path, row, place.character)] = true
  end
  return vim.tbl_map(function(use)
    return verify(use, definitions)
  end, params.uses)
end

return M
