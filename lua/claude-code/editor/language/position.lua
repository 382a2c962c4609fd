--- Places in texts: Neovim counts bytes, each language server by an encoding of its own, and Claude
--- reads the lines of the file on disk. Rows and columns are 0-based here. The executable receives lines of the file
--- on disk, and of private files their number.
local api = vim.api
local background = require("claude-code.editor.documents.background")
local columns = require("claude-code.editor.columns")
local file_change = require("claude-code.editor.documents.file_change")
local hunks = require("claude-code.editor.hunks")
local lines = require("claude-code.editor.documents.lines")
local paths = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local task = require("claude-code.lib.task")

---Above that the comparison with the disk would keep Neovim still.
local MOST_LINES = 50000
---A path has 4,096 bytes at most (PATH_MAX of Linux), each of which may be escaped.
local MOST_URI = 3 * 4096

local M = {}

---@param at claude-code.Occurrence
---@param encoding claude-code.Encoding
---@return integer character
local function character_of(at, encoding)
  return columns.of_byte(lines.at(at.buf, at.row), at.col, encoding)
end

---A request about a place.
---@param at claude-code.Occurrence
---@param method string
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
---@field path? string in normal form; nil where the URI is no file's
---@field row integer
---@field character integer
---@field encoding claude-code.Encoding

---@param uri string
---@return string? path in normal form; nil if it is no file's
local function path_of(uri)
  local ok, name = pcall(vim.uri_to_fname, uri)
  return ok and vim.startswith(uri, "file:") and paths.normal(name) or nil
end

---@param value any
---@return boolean is it a row or a column?
local function is_index(value)
  return type(value) == "number" and value >= 0 and value % 1 == 0
end

---A server's Location or LocationLink. The name alone, where the server gives its range.
---@param location lsp.Location|lsp.LocationLink|{ uri: string }
---@param client vim.lsp.Client
---@return claude-code.ServerPlace? nil for what is not in the protocol (LSP 3.17)
function M.place(location, client)
  local uri = location.uri or location.targetUri
  local range = location.range or location.targetSelectionRange or location.targetRange
  if type(uri) ~= "string" or #uri > MOST_URI then
    return nil
  end
  local start = type(range) == "table" and range.start or { line = 0, character = 0 }
  if type(start) ~= "table" or not (is_index(start.line) and is_index(start.character)) then
    return nil
  end
  return {
    uri = uri,
    path = path_of(uri),
    row = start.line,
    character = start.character,
    encoding = client.offset_encoding,
  }
end

---@param at claude-code.Occurrence
---@param encoding claude-code.Encoding
---@return claude-code.ServerPlace of an occurrence's beginning
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

---All places in the answer to a request for definitions, references or implementations, in a task.
---@param answer claude-code.ServerAnswer
---@return claude-code.ServerPlace[]
function M.places(answer)
  local result = answer.result
  if type(result) ~= "table" then
    return {}
  end
  local list = (result.uri or result.targetUri) and { result } or result
  local places = {}
  for _, location in ipairs(list) do
    places[#places + 1] = M.place(location, answer.client)
    task.breathe()
  end
  return places
end

---The row in a buffer of a line on disk; of a line that was deleted from the buffer, one near it.
---@param buf integer loaded
---@param line integer 1-based
---@return integer row
function M.row(buf, line)
  local last = api.nvim_buf_line_count(buf) - 1
  local row_on_disk = M.on_disk(buf)
  if row_on_disk then
    for row = 0, last do
      if (row_on_disk(row) or -1) >= line - 1 then
        return row
      end
    end
  end
  return math.min(line - 1, last)
end

---Where a buffer's lines are in its file. Claude's Read shows the file, a language server knows the
---buffer.
---@param buf integer loaded
---@return (fun(row: integer): integer?)? row_on_disk nil if the buffer has no unsaved changes; gives nil
--- for a line that only the buffer has
function M.on_disk(buf)
  if not vim.bo[buf].modified or api.nvim_buf_line_count(buf) > MOST_LINES then
    return nil
  end
  local change = file_change.read(buf)
  if not change then
    return nil
  end
  local list = hunks.between(change.old, change.new)
  return function(row)
    local line, is_same = hunks.counterpart(list, "old", row + 1)
    return is_same and line - 1 or nil
  end
end

---@class claude-code.LanguageFile
---@field path string absolute, or a URI that is no file's
---@field in_workspace boolean
---@field unsaved? boolean its buffer has unsaved changes; the lines are those on disk all the same
---@field unmapped? boolean … but they could not be found there: they are the buffer's

---@class claude-code.LanguagePlace
---@field file integer index, 1-based
---@field line integer 1-based, on disk; of text that only the buffer has, the line before it
---@field unsaved? string the line's text, where only the buffer has it
---@field character integer 0-based, as the server counts
---@field encoding? string "utf-16" if left out, as in LSP

---@class claude-code.LanguagePlaces
---@field files claude-code.LanguageFile[]
---@field places claude-code.LanguagePlace[]
---@field private integer places in private files, which are left out

---@class claude-code.AnswerFile
---@field index? integer nil for a private file
---@field row_on_disk? fun(row: integer): integer?
---@field buf? integer

---@param place claude-code.ServerPlace
---@param files claude-code.LanguageFile[] a new one is added
---@param folders string[] of the workspace
---@return claude-code.AnswerFile
local function file_of(place, files, folders)
  local name = place.path
  local buf = name and paths.loaded_buffer(name)
  if privacy.is_private(name or place.uri) or (buf and privacy.hides(buf)) then
    return {}
  end
  local in_workspace = name ~= nil and background.is_in_workspace(name, folders)
  local file = { path = name or place.uri, in_workspace = in_workspace }
  files[#files + 1] = file
  local row_on_disk = buf and M.on_disk(buf)
  if buf and vim.bo[buf].modified then
    file.unsaved = true
    file.unmapped = row_on_disk == nil or nil
  end
  return { index = #files, row_on_disk = row_on_disk, buf = buf }
end

---@param place claude-code.ServerPlace
---@param file claude-code.AnswerFile
---@return claude-code.LanguagePlace
local function answer_of(place, file)
  local row, unsaved = place.row, nil
  if file.row_on_disk then
    local on_disk = file.row_on_disk(row)
    if not on_disk then
      unsaved = lines.at(file.buf --[[@as integer]], row):sub(1, 400)
    end
    while not on_disk and row > 0 do
      row = row - 1
      on_disk = file.row_on_disk(row)
    end
    row = on_disk or 0
  end
  return {
    file = file.index,
    line = row + 1,
    unsaved = unsaved,
    character = place.character,
    encoding = place.encoding ~= "utf-16" and place.encoding or nil,
  }
end

---In a task.
---@param list claude-code.ServerPlace[]
---@return claude-code.LanguagePlaces
function M.answer(list)
  local known, result = {}, { files = {}, places = {}, private = 0 }
  local folders = require("claude-code.lib.workspace").folders()
  for _, place in ipairs(list) do
    local file = known[place.uri] or file_of(place, result.files, folders)
    known[place.uri] = file
    if file.index then
      result.places[#result.places + 1] = answer_of(place, file)
    else
      result.private = result.private + 1
    end
    task.breathe()
  end
  return result
end

return M
