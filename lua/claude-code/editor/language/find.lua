--- Answers what Claude asks about a symbol: where it is defined, and where it is used.
local api = vim.api
local hierarchy = require("claude-code.editor.language.hierarchy")
local lines = require("claude-code.editor.documents.lines")
local locate = require("claude-code.editor.language.locate")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local symbols = require("claude-code.editor.language.symbol")

local HOVER = "textDocument/hover"
local MOST_HOVER = 8000
local MOST_BODY = 120

local M = {}

---@class claude-code.SymbolAnswer
---@field name string
---@field definitions claude-code.LanguagePlaces
---@field hover? string Markdown
---@field declaration? claude-code.Declaration
---@field candidates? { kind?: string, container?: string }[] one for each of `definitions`
---@field uses? claude-code.LanguagePlaces
---@field items? claude-code.HierarchyItem[]
---@field states claude-code.LanguageServerState[]
---@field settled boolean the servers had read the project

---@param candidates claude-code.SymbolCandidate[]
---@param params claude-code.SymbolParams
---@param list claude-code.ServerAnswer[]
---@return claude-code.SymbolAnswer
local function ambiguous(candidates, params, list)
  local shown = vim.tbl_filter(function(candidate)
    return not require("claude-code.editor.privacy").is_private(candidate.place.path or "")
  end, candidates)
  return {
    name = params.symbol,
    definitions = position.answer(vim.tbl_map(function(candidate)
      return candidate.place
    end, shown)),
    candidates = vim.tbl_map(function(candidate)
      return { kind = candidate.kind, container = candidate.container }
    end, shown),
    states = request.states(list),
    settled = true,
  }
end

---In a task.
---@param params claude-code.SymbolParams
---@param answer fun(symbol: claude-code.Symbol): claude-code.SymbolAnswer?, claude-code.Failure?
---@return claude-code.SymbolAnswer? about the symbol, or the several that have the name
---@return claude-code.Failure?
local function located(params, answer)
  local found, failure = locate.symbol(params)
  if not found then
    return nil, failure
  elseif found.candidates then
    return ambiguous(found.candidates, params, found.answers)
  end
  return answer(found.symbol --[[@as claude-code.Symbol]])
end

---@param symbol claude-code.Symbol
---@param list claude-code.ServerAnswer[]
---@param is_across_files? boolean the question is about the whole project
---@return claude-code.LanguageServerState[] with those that ended and might have answered, too
local function states_of(symbol, list, is_across_files)
  local states = request.states(list, is_across_files)
  for _, name in ipairs(servers.ended(vim.bo[symbol.buf].filetype)) do
    table.insert(states, { name = name, state = "ended" })
  end
  return states
end

---@param symbol claude-code.Symbol
---@return claude-code.Failure
local function unknown(symbol)
  local states = request.states(symbol.answers)
  local busy =
    request.not_ready(states, "%s does not know `%s` yet. Ask again in 10 s.", symbol.name)
  local line = lines.at(symbol.buf, symbol.row):sub(1, 160)
  local text = "No language server knows what `%s` is in `%s` (a comment, a string or plain text?)."
  return busy or { code = "not_found", message = text:format(symbol.name, vim.trim(line)) }
end

---In a task: what servers show about the symbol, in Markdown.
---@param symbol claude-code.Symbol
---@return string?
local function hover_of(symbol)
  local clients = servers.capable(symbol.buf, HOVER)
  for _, answer in ipairs(request.all(clients, position.question(symbol, HOVER))) do
    local contents = (answer.result or {}).contents
    local ok, text_lines = pcall(vim.lsp.util.convert_input_to_markdown_lines, contents)
    if ok and #text_lines > 0 then
      return table.concat(text_lines, "\n"):sub(1, MOST_HOVER)
    end
  end
end

---@class claude-code.Declaration
---@field kind? string
---@field parents? string[]
---@field last_line? integer 1-based, as in the buffer
---@field first_line? integer
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
    local last = math.min(declared.last_row, declared.first_row + MOST_BODY - 1)
    result.body = api.nvim_buf_get_lines(buf, declared.first_row, last + 1, false)
    result.more = declared.last_row - last
  end
  return result
end

---In a task: where the symbol is defined, and the declaration at the first of these places, if its file
---is one of the project. clangd leads from a definition to its prototype: the longer one counts.
---@param symbol claude-code.Symbol with one definition at least
---@param with_body boolean
---@return claude-code.ServerPlace[]
---@return claude-code.Declaration
local function definitions_of(symbol, with_body)
  local places = symbol.definitions
  local declared, buf = symbols.declared_at(places[1])
  if declared and declared.first_row == declared.last_row then
    local own = position.own_place(symbol, places[1].encoding)
    local other, other_buf = symbols.declared_at(own)
    local is_name = other and other.row == own.row and other.character == own.character
    if is_name and other.last_row > other.first_row then
      declared, buf = other, other_buf
      places = symbols.distinct(vim.list_extend({ own }, places))
    end
  end
  return places, declared and buf and declaration_of(declared, buf, with_body) or {}
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
      return require("claude-code.editor.privacy").is_private(place.path or "")
    end)
    return {
      name = symbol.name,
      definitions = position.answer(definitions),
      declaration = not is_private and declaration or nil,
      hover = not is_private and hover_of(symbol) or nil,
      states = states_of(symbol, symbol.answers),
      settled = true,
    }
  end)
end

---@param symbol claude-code.Symbol
---@param method string
---@return claude-code.ServerAnswer[]? nil if no server of the file can answer it
---@return boolean settled
local function ask(symbol, method)
  local clients = servers.capable(symbol.buf, method)
  if #clients == 0 then
    return nil, false
  end
  local more = { context = { includeDeclaration = true } }
  return request.settled(clients, position.question(symbol, method, more))
end

---@param symbol claude-code.Symbol
---@param relation string
---@return claude-code.Failure
local function unsupported(symbol, relation)
  local names = vim.tbl_map(function(client)
    return client.name
  end, servers.of_buffer(symbol.buf))
  local text = "%s cannot find %s. Use relation references, or Grep."
  return { code = "unsupported", message = text:format(table.concat(names, ", "), relation) }
end

local METHODS = {
  references = "textDocument/references",
  implementations = "textDocument/implementation",
}

---Where a symbol is used, or what is related to it.
---@param params claude-code.SymbolParams|{ relation: string }
---@return claude-code.SymbolAnswer?
---@return claude-code.Failure?
function M.related(params)
  return located(params, function(symbol)
    local list, settled, items
    if METHODS[params.relation] then
      list, settled = ask(symbol, METHODS[params.relation])
    else
      items, list, settled = hierarchy.find(symbol, params.relation)
    end
    local failure = list and request.failure_of(list)
    if not list or failure and list[1].is_unsupported then
      return nil, unsupported(symbol, params.relation)
    elseif failure then
      return nil, failure
    end
    local places = {}
    for _, answer in ipairs(not items and list or {}) do
      vim.list_extend(places, position.places(answer))
    end
    if not items and #places == 0 and #symbol.definitions == 0 then
      return nil, unknown(symbol)
    end
    return {
      name = params.symbol,
      definitions = position.answer(symbol.definitions),
      uses = not items and position.answer(places) or nil,
      items = items,
      states = states_of(symbol, list, true),
      settled = settled,
    }
  end)
end

return M
