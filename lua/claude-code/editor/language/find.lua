--- Answers what Claude asks about a symbol: where it is defined, and where it is used.
local answers = require("claude-code.editor.language.answer")
local describe = require("claude-code.editor.language.describe")
local hierarchy = require("claude-code.editor.language.hierarchy")
local locate = require("claude-code.editor.language.locate")
local position = require("claude-code.editor.language.position")
local ready = require("claude-code.editor.language.ready")
local servers = require("claude-code.editor.language.servers")

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
    definitions = answers.of(vim.tbl_map(function(candidate)
      return candidate.place
    end, shown)),
    candidates = vim.tbl_map(function(candidate)
      return { kind = candidate.kind, container = candidate.container }
    end, shown),
    states = ready.states(list),
    settled = true,
  }
end

---@alias claude-code.AnswerAbout fun(symbol: claude-code.Symbol, list: claude-code.ServerAnswer[]):
--- claude-code.SymbolAnswer?, claude-code.Failure?

---In a task.
---@param params claude-code.SymbolParams
---@param answer claude-code.AnswerAbout
---@return claude-code.SymbolAnswer? about the symbol, or the several that have the name
---@return claude-code.Failure?
local function located(params, answer)
  local found, failure = locate.symbol(params)
  if not found then
    return nil, failure
  elseif found.candidates then
    return ambiguous(found.candidates, params, found.answers)
  end
  return answer(found.symbol --[[@as claude-code.Symbol]], found.answers)
end

---@param symbol claude-code.Symbol
---@param list claude-code.ServerAnswer[]
---@param is_across_files? boolean the question is about the whole project
---@return claude-code.LanguageServerState[] with those that ended and might have answered, too
local function states_of(symbol, list, is_across_files)
  local states = ready.states(list, is_across_files)
  for _, name in ipairs(servers.ended(vim.bo[symbol.buf].filetype, true)) do
    table.insert(states, { name = name, state = "ended" })
  end
  return states
end

---@param symbol claude-code.Symbol
---@return claude-code.Failure
local function unknown(symbol)
  local busy = vim.iter(ready.states(symbol.answers)):find(function(state)
    return state.state ~= "idle"
  end)
  local line = position.line(symbol.buf, symbol.row):sub(1, 160)
  if busy then
    local text = "Not ready: %s does not know `%s` yet. Ask again in 10 s."
    local message = text:format(ready.describe(busy), symbol.name)
    return { code = "not_ready", message = message }
  end
  local text = "No language server knows what `%s` is in `%s` (a comment, a string or plain text?)."
  return { code = "not_found", message = text:format(symbol.name, vim.trim(line)) }
end

---Where a symbol is defined, and what it is.
---@param params claude-code.SymbolParams|{ body?: boolean }
---@return claude-code.SymbolAnswer?
---@return claude-code.Failure?
function M.definition(params)
  return located(params, function(symbol, list)
    if #symbol.definitions == 0 then
      return nil, unknown(symbol)
    end
    local definitions, declaration = describe.definitions(symbol, params.body == true)
    return {
      name = symbol.name,
      definitions = answers.of(definitions),
      declaration = declaration,
      hover = describe.hover(symbol),
      states = states_of(symbol, list),
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
  return ready.ask(clients, {
    method = method,
    buf = symbol.buf,
    params = function(client)
      local params = position.params(client, symbol.buf, symbol.row, symbol.col)
      return vim.tbl_extend("error", params, { context = { includeDeclaration = true } })
    end,
  })
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
    local failure = list and ready.failure_of(list)
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
      definitions = answers.of(symbol.definitions),
      uses = not items and answers.of(places) or nil,
      items = items,
      states = states_of(symbol, list, true),
      settled = settled,
    }
  end)
end

return M
