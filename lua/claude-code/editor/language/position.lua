--- Converts places in texts: Neovim counts bytes, and each language server counts by its own encoding. Rows and columns
--- are 0-based here. The executable gets 1-based lines, and only the number of places in private files.
local background = require("claude-code.editor.documents.background")
local columns = require("claude-code.editor.columns")
local lines = require("claude-code.editor.documents.lines")
local paths = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local task = require("claude-code.lib.task")

---PATH_MAX of Linux, with each byte escaped.
local MAX_URI = 3 * 4096
local MAX_TEXT = 400

local M = {}

---@class claude-code.Occurrence
---@field buf integer
---@field row integer
---@field col integer byte

local function character_of(at, encoding)
  return columns.of_byte(lines.at(at.buf, at.row), at.col, encoding)
end

---@param at claude-code.Occurrence subject of the request
---@param more? table parameters
---@return claude-code.Question
function M.question(at, method, more)
  local function params(client)
    return vim.tbl_extend("error", {
      textDocument = { uri = vim.uri_from_bufnr(at.buf) },
      position = { line = at.row, character = character_of(at, client.offset_encoding) },
    }, more or {})
  end
  return { method = method, buf = at.buf, params = params }
end

---@class claude-code.ServerPlace
---@field uri string
---@field path? string in normal form; nil if the URI is not a file's
---@field row integer
---@field character integer
---@field encoding claude-code.Encoding

local function is_index(value)
  return type(value) == "number" and value >= 0 and value % 1 == 0
end

---@param location lsp.Location|lsp.LocationLink|{ uri: string }
---@return claude-code.ServerPlace? nil if the location is invalid (LSP 3.17)
function M.place(location, client)
  local uri = location.uri or location.targetUri
  local range = location.range or location.targetSelectionRange or location.targetRange
  if type(uri) ~= "string" or #uri > MAX_URI then
    return nil
  end
  local start = type(range) == "table" and range.start or { line = 0, character = 0 }
  if type(start) ~= "table" or not (is_index(start.line) and is_index(start.character)) then
    return nil
  end
  local ok, name = pcall(vim.uri_to_fname, uri)
  return {
    uri = uri,
    path = ok and vim.startswith(uri, "file:") and paths.normal(name) or nil,
    row = start.line,
    character = start.character,
    encoding = client.offset_encoding,
  }
end

---@return claude-code.ServerPlace
function M.own_place(at, encoding)
  return {
    uri = vim.uri_from_bufnr(at.buf),
    path = paths.of_buffer(at.buf),
    row = at.row,
    character = character_of(at, encoding),
    encoding = encoding,
  }
end

---@param buf integer loaded, of the place's file
---@param place { row: integer, character: integer, encoding: claude-code.Encoding }
---@return claude-code.Occurrence
function M.occurrence(buf, place)
  local col = columns.to_byte(lines.at(buf, place.row), place.character, place.encoding)
  return { buf = buf, row = place.row, col = col }
end

function M.key(place)
  return place.uri .. "\0" .. place.row .. "\0" .. place.character
end

---@param answers claude-code.ServerAnswer[] to a request for definitions, references or implementations
---@return claude-code.ServerPlace[] without duplicates
function M.places(answers)
  local places, seen = {}, {}
  for _, answer in ipairs(answers) do
    local result = type(answer.result) == "table" and answer.result or {}
    for _, location in ipairs((result.uri or result.targetUri) and { result } or result) do
      local place = type(location) == "table" and M.place(location, answer.client) or nil
      if place and not seen[M.key(place)] then
        seen[M.key(place)] = true
        places[#places + 1] = place
      end
      task.breathe()
    end
  end
  return places
end

---Does a file belong to the project, and not to a package that the project uses?
---@param folders? string[] of the workspace
function M.is_own(name, folders)
  return name ~= nil
    and background.is_in_workspace(name, folders)
    and not name:find("/node_modules/", 1, true)
    and not name:find("/site%-packages/")
    and not name:find("/%.?venv/")
end

---@return table places LanguagePlaces of src/editor/language.ts
function M.answer(list)
  local known, result = {}, { files = {}, places = {}, private = 0 }
  local folders = require("claude-code.lib.workspace").folders()
  ---@return { index?: integer, buf?: integer } index is nil for a private file; buf is nil unless it is modified
  local function file_of(place)
    local name = place.path
    local buf = name and paths.loaded_buffer(name)
    if privacy.is_private(name or place.uri) or (buf and privacy.hides(buf)) then
      return {}
    end
    local unsaved = buf and vim.bo[buf].modified or nil
    local file = { path = name or place.uri, is_own = M.is_own(name, folders), unsaved = unsaved }
    table.insert(result.files, file)
    return { index = #result.files, buf = unsaved and buf }
  end
  for _, place in ipairs(list) do
    local file = known[place.uri] or file_of(place)
    known[place.uri] = file
    if file.index then
      local text = file.buf and lines.at(file.buf, place.row):sub(1, MAX_TEXT) or nil
      table.insert(result.places, { file = file.index, line = place.row + 1, text = text })
    else
      result.private = result.private + 1
    end
    task.breathe()
  end
  return result
end

return M
