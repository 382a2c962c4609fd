--- What files declare, by their language servers.
local api = vim.api
local declarations = require("claude-code.editor.language.declarations")
local files = require("claude-code.editor.language.files")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local task = require("claude-code.lib.task")

local MOST_SYMBOLS = 2000

local M = {}

---@class claude-code.OutlineSymbol
---@field name string
---@field kind string
---@field detail? string
---@field depth integer 0 at the top
---@field first_line integer 1-based, as on disk
---@field last_line integer

---@class claude-code.FileOutline
---@field path string
---@field symbols? claude-code.OutlineSymbol[]
---@field unsaved? boolean
---@field failure? string

---Kinds that belong to the text of a function, and not to what a file declares.
local LOCAL = { variable = true, constant = true }

---@param list claude-code.DocumentSymbol[]
---@return claude-code.OutlineSymbol[]
local function on_disk(buf, list)
  local row_on_disk = position.on_disk(buf)
  local function line(row)
    local found = row_on_disk and row_on_disk(row) or row
    return found + 1
  end
  local result = {}
  for i = 1, math.min(#list, MOST_SYMBOLS) do
    local symbol = list[i]
    result[i] = {
      name = symbol.name,
      kind = symbol.kind,
      detail = symbol.detail,
      depth = symbol.depth,
      first_line = line(symbol.first_row),
      last_line = line(symbol.last_row),
    }
  end
  return result
end

---@param failure claude-code.Failure
local function text_of(failure)
  return type(failure) == "table" and failure.message or failure --[[@as string]]
end

---In a task.
---@param candidates string[]
---@param answers claude-code.ServerAnswer[] more are added
---@return claude-code.FileOutline
local function of_file(candidates, answers)
  local buf, failure, is_new = files.load(candidates)
  if not buf then
    return { path = candidates[1], failure = text_of(failure) }
  end
  local list, more = {}, {} ---@type claude-code.DocumentSymbol[], claude-code.ServerAnswer[]
  failure = files.wait_for_servers(buf, is_new)
  if not failure then
    list, more = declarations.of(buf)
    failure = request.failure_of(more)
  end
  local name = api.nvim_buf_get_name(buf)
  if failure then
    return { path = name, failure = text_of(failure) }
  end
  vim.list_extend(answers, more)
  list = vim.tbl_filter(function(symbol)
    return symbol.depth == 0 or not LOCAL[symbol.kind]
  end, list)
  return {
    path = path.real(name),
    unsaved = vim.bo[buf].modified or nil,
    symbols = on_disk(buf, list),
  }
end

---In a task: of several files as many as time allows.
---@param params { files: string[][], named: string, changes?: claude-code.ChangedFile[] }
---@return { files: claude-code.FileOutline[], states: claude-code.LanguageServerState[] }?
---@return claude-code.Failure?
function M.of_files(params)
  files.take_over(params.changes)
  local outlines, answers = {}, {} ---@type claude-code.FileOutline[], claude-code.ServerAnswer[]
  for _, candidates in ipairs(params.files) do
    if #candidates == 0 then
      return task.fail("private", "%s", require("claude-code.editor.privacy").refusal(params.named))
    end
    outlines[#outlines + 1] = task.time_left() > 3000 and of_file(candidates, answers)
      or { path = candidates[1], failure = "there was no time for it: ask for this file alone." }
    task.breathe()
  end
  local only = outlines[1]
  if #outlines == 1 and only.failure then
    return nil, only.failure
  end
  return { files = outlines, states = request.states(answers) }
end

return M
