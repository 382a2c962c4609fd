--- Answers Claude's questions in tasks: the definition and uses of a symbol, and the outline of a file. For the form of
--- the answers, see src/editor/language.ts.
local api = vim.api
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local lsp = require("claude-code.lib.lsp")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local privacy = require("claude-code.editor.privacy")
local request = require("claude-code.editor.language.request")
local symbols = require("claude-code.editor.language.symbol")
local task = require("claude-code.lib.task")

local HOVER, DOCUMENT = "textDocument/hover", "textDocument/documentSymbol"
local MAX_HOVER, MAX_OUTLINED = 8000, 2000

local M = {}

---Answers about the symbol, or lists the symbols if several have its name.
---@param answer fun(symbol: claude-code.Symbol): table?, claude-code.Failure?
local function located(params, answer)
  local symbol, failure = symbols.find(params)
  if not symbol then
    return nil, failure
  elseif not symbol.candidates then
    return answer(symbol)
  end
  return {
    name = params.symbol,
    definitions = position.answer(symbol.candidates),
    are_candidates = true,
    states = request.states(symbol.answers),
  }
end

function M.unknown(symbol)
  local line = vim.trim(lines.at(symbol.buf, symbol.row):sub(1, 160))
  local text = "No language server knows what `%s` is in `%s` (a comment, a string or plain text?)."
  return request.not_ready(symbol.answers, symbol.name)
    or { code = "not_found", message = text:format(symbol.name, line) }
end

---@return string? markdown that servers show about the symbol
local function hover_of(symbol)
  local clients = request.capable(symbol.buf, HOVER)
  for _, answer in ipairs(request.all(clients, position.question(symbol, HOVER))) do
    local contents = type(answer.result) == "table" and answer.result.contents or nil
    local ok, text_lines = pcall(vim.lsp.util.convert_input_to_markdown_lines, contents)
    if ok and #text_lines > 0 then
      return table.concat(text_lines, "\n"):sub(1, MAX_HOVER)
    end
  end
end

function M.definition(params)
  return located(params, function(symbol)
    if #symbol.definitions == 0 then
      return nil, M.unknown(symbol)
    end
    -- The hover quotes text from the definition.
    local is_private = vim.iter(symbol.definitions):any(function(place)
      return privacy.is_private(place.path or "")
    end)
    return {
      name = symbol.name,
      definitions = position.answer(symbol.definitions),
      hover = not is_private and hover_of(symbol) or nil,
      states = request.states(symbol.answers),
    }
  end)
end

local METHODS = {
  references = "textDocument/references",
  implementations = "textDocument/implementation",
}

function M.related(params)
  return located(params, function(symbol)
    local method = METHODS[params.relation]
    local clients = request.capable(symbol.buf, method)
    if #clients == 0 then
      local text = "%s cannot find %s. Use Grep."
      return task.fail("unsupported", text, lsp.names(lsp.of_buffer(symbol.buf)), params.relation)
    end
    local question = position.question(symbol, method, { context = { includeDeclaration = true } })
    local answers = request.all(clients, question)
    local places, failure = position.places(answers), request.failure_of(answers)
    if failure then
      return nil, failure
    elseif #places == 0 and #symbol.definitions == 0 then
      return nil, M.unknown(symbol)
    elseif params.relation == "references" then
      -- The answer lists definitions apart from uses. A prototype counts as a use.
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
      states = request.states(answers),
    }
  end)
end

local function range_of(item)
  return item.range or (item.location or {}).range
end

---@param items table[] DocumentSymbol[] or SymbolInformation[], in any order
local function flatten(items, depth, list)
  items = vim.tbl_filter(range_of, items)
  table.sort(items, function(a, b)
    return range_of(a).start.line < range_of(b).start.line
  end)
  for _, item in ipairs(items) do
    task.breathe() -- A generated file may declare tens of thousands.
    local range, kind = range_of(item), vim.lsp.protocol.SymbolKind[item.kind]
    kind = type(kind) == "string" and kind or "symbol" -- By a name, Neovim's table gives the number.
    list[#list + 1] = {
      name = tostring(item.name),
      kind = kind:gsub("(%l)(%u)", "%1 %2"):lower(),
      detail = type(item.detail) == "string" and item.detail ~= "" and item.detail or nil,
      depth = depth,
      first_line = range.start.line + 1,
      last_line = range["end"].line + 1,
    }
    if type(item.children) == "table" then
      flatten(item.children, depth + 1, list)
    end
  end
end

---Kinds that are left out below the top level.
local LOCAL = { variable = true, constant = true }

---Lists the declarations of a file, by the server that knows the most.
function M.outline(params)
  files.take_over(params.changes)
  local buf, failure = files.file(params.file, params.named)
  if not buf then
    return nil, failure
  end
  local clients, name = request.capable(buf, DOCUMENT), api.nvim_buf_get_name(buf)
  if #clients == 0 then
    local text = "%s cannot list what %s declares. Use Read."
    return task.fail("unsupported", text, lsp.names(lsp.of_buffer(buf)), path.title(name))
  end
  local question = { textDocument = { uri = vim.uri_from_bufnr(buf) } }
  local answers = request.all(clients, { method = DOCUMENT, params = question, buf = buf })
  failure = request.failure_of(answers)
  if failure then
    return nil, failure
  end
  local most = {}
  for _, answer in ipairs(answers) do
    local list = {}
    flatten(type(answer.result) == "table" and answer.result or {}, 0, list)
    most = #list > #most and list or most
  end
  local outlined = vim.tbl_filter(function(symbol)
    return symbol.depth == 0 or not LOCAL[symbol.kind]
  end, most)
  return {
    path = path.real(name),
    unsaved = vim.bo[buf].modified or nil,
    symbols = vim.list_slice(outlined, 1, MAX_OUTLINED),
    states = request.states(answers),
  }
end

return M
