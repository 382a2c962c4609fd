--- Answers what Claude asks language servers: where a symbol is defined and used, and what files declare.
local api = vim.api
local declarations = require("claude-code.editor.language.declarations")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local privacy = require("claude-code.editor.privacy")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local symbols = require("claude-code.editor.language.symbol")
local task = require("claude-code.lib.task")

local HOVER = "textDocument/hover"
local MAX_HOVER, MAX_BODY, MAX_OUTLINED = 8000, 120, 2000

local M = {}

---@class claude-code.SymbolAnswer
---@field name string
---@field definitions claude-code.LanguagePlaces
---@field hover? string Markdown
---@field declaration? claude-code.Declaration
---@field candidates? { kind?: string, container?: string }[] one for each of `definitions`
---@field uses? claude-code.LanguagePlaces
---@field states claude-code.LanguageServerState[]

---@param candidates claude-code.SymbolCandidate[]
---@param params claude-code.SymbolParams
---@param answers claude-code.ServerAnswer[]
---@return claude-code.SymbolAnswer
local function ambiguous(candidates, params, answers)
  local shown = vim.tbl_filter(function(candidate)
    return not privacy.is_private(candidate.place.path or "")
  end, candidates)
  return {
    name = params.symbol,
    definitions = position.answer(vim.tbl_map(function(candidate)
      return candidate.place
    end, shown)),
    candidates = vim.tbl_map(function(candidate)
      return { kind = candidate.kind, container = candidate.container }
    end, shown),
    states = request.states(answers, true),
  }
end

---In a task.
---@param params claude-code.SymbolParams
---@param answer fun(symbol: claude-code.Symbol): claude-code.SymbolAnswer?, claude-code.Failure?
---@return claude-code.SymbolAnswer? about the symbol, or the several that have the name
---@return claude-code.Failure?
local function located(params, answer)
  local found, failure = symbols.find(params)
  if not found then
    return nil, failure
  elseif found.candidates then
    return ambiguous(found.candidates, params, found.answers)
  end
  return answer(found.symbol --[[@as claude-code.Symbol]])
end

---@param symbol claude-code.Symbol
---@return claude-code.Failure
local function unknown(symbol)
  local line = vim.trim(lines.at(symbol.buf, symbol.row):sub(1, 160))
  local text = "No language server knows what `%s` is in `%s` (a comment, a string or plain text?)."
  return request.not_ready(request.states(symbol.answers, true), symbol.name)
    or { code = "not_found", message = text:format(symbol.name, line) }
end

---In a task: what servers show about the symbol, in Markdown.
---@param symbol claude-code.Symbol
---@return string?
local function hover_of(symbol)
  local clients = servers.capable(symbol.buf, HOVER)
  for _, answer in ipairs(request.all(clients, position.question(symbol, HOVER))) do
    local contents = type(answer.result) == "table" and answer.result.contents or nil
    local ok, text_lines = pcall(vim.lsp.util.convert_input_to_markdown_lines, contents)
    if ok and #text_lines > 0 then
      return table.concat(text_lines, "\n"):sub(1, MAX_HOVER)
    end
  end
end

---@class claude-code.Declaration
---@field kind string
---@field parents string[]
---@field last_line integer 1-based
---@field first_line integer
---@field body? string[]
---@field more? integer lines of the body that are left out

---@param declared claude-code.DocumentSymbol
---@param with_body boolean
---@return claude-code.Declaration
local function declaration_of(declared, buf, with_body)
  local result = {
    kind = declared.kind,
    parents = declared.parents,
    first_line = declared.first_row + 1,
    last_line = declared.last_row + 1,
  }
  if with_body then
    local last = math.min(declared.last_row, declared.first_row + MAX_BODY - 1)
    result.body = api.nvim_buf_get_lines(buf, declared.first_row, last + 1, false)
    result.more = declared.last_row - last
  end
  return result
end

---In a task: where the symbol is defined, and the declaration at the first of these places, if its file is one of the
---project. The place that was asked about comes first, if it declares the symbol: clangd leads from a definition to
---its prototype.
---@param symbol claude-code.Symbol with one definition at least
---@param with_body boolean
---@return claude-code.ServerPlace[]
---@return claude-code.Declaration?
local function definitions_of(symbol, with_body)
  local places = symbol.definitions
  local own = position.own_place(symbol, places[1].encoding)
  local declared, buf = symbols.declared_at(own)
  if declared and declared.row == own.row and declared.character == own.character then
    places = vim.list_extend(
      { own },
      vim.tbl_filter(function(place)
        return position.key(place) ~= position.key(own)
      end, places)
    )
  else
    declared, buf = symbols.declared_at(places[1])
  end
  return places, declared and buf and declaration_of(declared, buf, with_body) or nil
end

---Where a symbol is defined, and what it is.
---@param params claude-code.SymbolParams|{ body?: boolean }
---@return claude-code.SymbolAnswer?
---@return claude-code.Failure?
function M.definition(params)
  return located(params, function(symbol)
    if #symbol.definitions == 0 then
      return nil, unknown(symbol)
    end
    local definitions, declaration = definitions_of(symbol, params.body == true)
    -- What servers show about it is text of the place where it is defined.
    local is_private = vim.iter(definitions):any(function(place)
      return privacy.is_private(place.path or "")
    end)
    return {
      name = symbol.name,
      definitions = position.answer(definitions),
      declaration = not is_private and declaration or nil,
      hover = not is_private and hover_of(symbol) or nil,
      states = request.states(symbol.answers, true),
    }
  end)
end

---@return string names of the buffer's servers
local function names_of(buf)
  local names = vim.tbl_map(function(client)
    return client.name
  end, servers.of_buffer(buf))
  return table.concat(names, ", ")
end

local METHODS = {
  references = "textDocument/references",
  implementations = "textDocument/implementation",
}

---Where a symbol is used, or implemented.
---@param params claude-code.SymbolParams|{ relation: "references"|"implementations" }
---@return claude-code.SymbolAnswer?
---@return claude-code.Failure?
function M.related(params)
  return located(params, function(symbol)
    local method = METHODS[params.relation]
    local clients = servers.capable(symbol.buf, method)
    if #clients == 0 then
      local text = "%s cannot find %s. Use Grep."
      return task.fail("unsupported", text, names_of(symbol.buf), params.relation)
    end
    local question = position.question(symbol, method, { context = { includeDeclaration = true } })
    local answers, is_settled = request.settled(clients, question)
    local places, failure = position.places(answers), request.failure_of(answers)
    if failure then
      return nil, failure
    elseif #places == 0 and #symbol.definitions == 0 then
      return nil, unknown(symbol)
    elseif params.relation == "references" then
      -- A definition is named first, and is not a use. A prototype is one.
      local defined = {}
      for _, place in ipairs(symbol.definitions) do
        defined[position.key(place)] = true
      end
      places = vim.tbl_filter(function(place)
        return not defined[position.key(place)]
      end, places)
    end
    return {
      name = params.symbol,
      definitions = position.answer(symbol.definitions),
      uses = position.answer(places),
      states = request.states(answers, is_settled),
    }
  end)
end

---@class claude-code.OutlineSymbol
---@field name string
---@field kind string
---@field detail? string
---@field depth integer 0 at the top
---@field first_line integer 1-based
---@field last_line integer

---@class claude-code.Outline
---@field path string
---@field unsaved? boolean its buffer has unsaved changes
---@field symbols claude-code.OutlineSymbol[]
---@field states claude-code.LanguageServerState[]

---Kinds that belong to the text of a function, and not to what a file declares.
local LOCAL = { variable = true, constant = true }

---What a file declares, in a task.
---@param params { file: string[], named: string, changes?: claude-code.ChangedFile[] }
---@return claude-code.Outline?
---@return claude-code.Failure?
function M.outline(params)
  files.take_over(params.changes)
  local buf, failure = files.named(params)
  if not buf then
    return nil, failure
  end
  local list, answers = declarations.of(buf)
  local name = api.nvim_buf_get_name(buf)
  if #answers == 0 then
    local text = "%s cannot list what %s declares. Use Read."
    return task.fail("unsupported", text, names_of(buf), path.title(name))
  end
  failure = request.failure_of(answers)
  if failure then
    return nil, failure
  end
  local outlined = {}
  for _, symbol in ipairs(list) do
    if #outlined < MAX_OUTLINED and (symbol.depth == 0 or not LOCAL[symbol.kind]) then
      outlined[#outlined + 1] = {
        name = symbol.name,
        kind = symbol.kind,
        detail = symbol.detail,
        depth = symbol.depth,
        first_line = symbol.first_row + 1,
        last_line = symbol.last_row + 1,
      }
    end
  end
  return {
    path = path.real(name),
    unsaved = vim.bo[buf].modified or nil,
    symbols = outlined,
    states = request.states(answers, true),
  }
end

return M
