--- Whether words that no server listed among the uses of a symbol are uses all the same: a server may not
--- have read a new file yet, or keep it for another project. To open the file lets it look.
local files = require("claude-code.editor.language.files")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local symbols = require("claude-code.editor.language.symbol")
local task = require("claude-code.lib.task")

local M = {}

---@alias claude-code.Verdict "same"|"other"|"unknown"|"unasked"

---@class claude-code.DoubtfulUse
---@field path string
---@field line integer 1-based, as on disk
---@field column integer in UTF-16 code units

---@class claude-code.SymbolDefinition
---@field path string
---@field line integer 1-based, as on disk
---@field character integer as its server counts
---@field encoding? string UTF-16 if left out

---@param row integer
---@param character integer
local function key_of(name, row, character)
  return ("%s\0%d\0%d"):format(path.real(name), row, character)
end

---@param places claude-code.ServerPlace[]
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
  local buf = task.time_left() > 1000 and files.file({ use.path }) or nil
  if not buf then
    return "unasked"
  elseif vim.bo[buf].modified or use.line > vim.api.nvim_buf_line_count(buf) then
    -- Of unsaved text the lines on disk say nothing here.
    return "unknown"
  end
  local place = { row = use.line - 1, character = use.column, encoding = "utf-16" }
  local groups = symbols.groups({ position.occurrence(buf, place) })
  return verdict_on(groups[1] and groups[1].places or {}, definitions)
end

---@param list claude-code.SymbolDefinition[]
---@return table<string, true> with the declarations to which servers lead from the definitions
local function keys_of(list)
  local keys, at = {}, {} ---@type table<string, true>, claude-code.Occurrence[]
  for _, place in ipairs(list) do
    local buf = files.file({ place.path })
    local row = buf and position.row(buf, place.line) or place.line - 1
    keys[key_of(place.path, row, place.character)] = true
    if buf then
      -- What the executable leaves undefined comes as null.
      local encoding = place.encoding ~= vim.NIL and place.encoding or "utf-16"
      at[#at + 1] =
        position.occurrence(buf, { row = row, character = place.character, encoding = encoding })
    end
  end
  for _, group in ipairs((symbols.groups(at))) do
    for _, place in ipairs(group.places) do
      keys[key_of(place.path or place.uri, place.row, place.character)] = true
    end
  end
  return keys
end

---In a task.
---@param params { definitions: claude-code.SymbolDefinition[], uses: claude-code.DoubtfulUse[] }
---@return claude-code.Verdict[] in the order of the uses
function M.uses(params)
  local definitions = keys_of(params.definitions)
  return vim.tbl_map(function(use)
    return verify(use, definitions)
  end, params.uses)
end

return M
