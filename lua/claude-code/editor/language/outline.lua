--- What files declare: by their language servers, else by the grammar of tree-sitter.
local api = vim.api
local declarations = require("claude-code.editor.language.declarations")
local files = require("claude-code.editor.language.files")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local task = require("claude-code.editor.language.task")

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
---@field by_grammar? boolean
---@field failure? string

---Kinds that belong to the text of a function, and not to what a file declares.
local LOCAL = { variable = true, constant = true }

---@param list claude-code.DocumentSymbol[]
---@return claude-code.DocumentSymbol[]
local function without_locals(list)
  return vim.tbl_filter(function(symbol)
    return symbol.depth == 0 or not LOCAL[symbol.kind]
  end, list)
end

---Words in the names of a grammar's nodes, and the kinds they are.
local KINDS = { "function", "method", "class", "interface", "struct", "enum", "trait", "module" }

---@param node TSNode
---@return string?
local function kind_of(node)
  local name = node:type()
  for _, kind in ipairs(KINDS) do
    if name:find(kind, 1, true) and (name:find("declaration") or name:find("definition")) then
      return kind
    end
  end
end

---@param buf integer
---@param node TSNode
---@param depth integer
---@param list claude-code.DocumentSymbol[]
local function collect(buf, node, depth, list)
  for child in node:iter_children() do
    local kind, name = kind_of(child), child:field("name")[1]
    local is_one = kind ~= nil and name ~= nil and #list < MOST_SYMBOLS
    if is_one then
      local first, _, last = child:range()
      list[#list + 1] = {
        name = vim.treesitter.get_node_text(name, buf),
        kind = kind,
        depth = depth,
        first_row = first,
        last_row = last,
      }
    end
    collect(buf, child, is_one and depth + 1 or depth, list)
  end
end

---@param buf integer
---@return claude-code.DocumentSymbol[]? nil if there is no grammar
local function by_grammar(buf)
  local ok, parser = pcall(vim.treesitter.get_parser, buf)
  local tree = ok and parser and parser:parse()[1]
  if not tree then
    return nil
  end
  local list = {} ---@type claude-code.DocumentSymbol[]
  collect(buf, tree:root(), 0, list)
  return list
end

---@param buf integer
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
---@return string
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
  local name = api.nvim_buf_get_name(buf)
  local outline = { path = path.real(name), unsaved = vim.bo[buf].modified or nil }
  local problem = files.wait_for_servers(buf, is_new)
  local list = problem and by_grammar(buf)
  if problem and not list then
    return { path = name, failure = text_of(problem) }
  elseif list then
    outline.by_grammar = true
  else
    local found, more = declarations.of(buf)
    failure = request.failure_of(more)
    if failure then
      return { path = name, failure = text_of(failure) }
    end
    vim.list_extend(answers, more)
    list = without_locals(found)
  end
  outline.symbols = on_disk(buf, list)
  return outline
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
      local message = require("claude-code.editor.privacy").refusal(params.named)
      return nil, { code = "private", message = message }
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
