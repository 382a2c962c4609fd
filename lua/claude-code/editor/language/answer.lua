--- Places of language servers as the executable receives them: what is private is counted and not
--- named, and lines are those of the file on disk.
local hidden = require("claude-code.editor.diagnostics.hidden")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local privacy = require("claude-code.editor.privacy")
local task = require("claude-code.editor.language.task")

local M = {}

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

---@param place claude-code.Place
---@param files claude-code.LanguageFile[] a new one is added
---@param folders string[] of the workspace
---@return claude-code.AnswerFile
local function file_of(place, files, folders)
  local name = place.path
  local buf = name and path.loaded_buffer(name)
  if privacy.is_private(name or place.uri) or (buf and privacy.hides(buf)) then
    return {}
  end
  local in_workspace = name ~= nil and hidden.is_in_workspace(name, folders)
  local file = { path = name or place.uri, in_workspace = in_workspace }
  files[#files + 1] = file
  local row_on_disk = buf and position.on_disk(buf)
  if buf and vim.bo[buf].modified then
    file.unsaved = true
    file.unmapped = row_on_disk == nil or nil
  end
  return { index = #files, row_on_disk = row_on_disk, buf = buf }
end

---@param place claude-code.Place
---@param file claude-code.AnswerFile
---@return claude-code.LanguagePlace
local function answer_of(place, file)
  local row, unsaved = place.row, nil
  if file.row_on_disk then
    local on_disk = file.row_on_disk(row)
    if not on_disk then
      unsaved = position.line(file.buf --[[@as integer]], row):sub(1, 400)
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
---@param list claude-code.Place[]
---@return claude-code.LanguagePlaces
function M.of(list)
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
