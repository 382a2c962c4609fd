--- Finds the symbol that Claude names, with a file and a line if Claude gives them, but without a column. Any
--- occurrence of the name will do, since language servers identify the symbol by its definitions.
local api = vim.api
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local position = require("claude-code.editor.language.position")
local privacy = require("claude-code.editor.privacy")
local request = require("claude-code.editor.language.request")
local task = require("claude-code.lib.task")

local DEFINITION, WORKSPACE = "textDocument/definition", "workspace/symbol"
---A server may know thousands of symbols with a short name.
local MAX_SYMBOLS = 5000

---How many lines away the name may be, since Claude may have read the line number before an edit.
local TOLERANCE = 5
local MAX_OCCURRENCES = 24

local M = {}

---@class claude-code.Symbol : claude-code.Occurrence
---@field name string unqualified
---@field definitions claude-code.ServerPlace[]
---@field answers claude-code.ServerAnswer[]
---@field candidates? claude-code.ServerPlace[] definitions, if several symbols have the name

---@return claude-code.Occurrence[] of the name as a whole word
local function in_row(buf, name, row)
  local word, list = "[%w_\128-\255]", {}
  local head = name:find("^" .. word) and "%f" .. word or ""
  local tail = name:find(word .. "$") and "%f[^%w_\128-\255]" or ""
  for col in lines.at(buf, row):gmatch("()" .. head .. vim.pesc(name) .. tail) do
    list[#list + 1] = { buf = buf, row = row, col = col - 1 }
  end
  return list
end

---@return claude-code.Occurrence[] on that row, or on the nearest row with the name
local function near(buf, name, row)
  for distance = 0, TOLERANCE do
    for _, other in ipairs({ row + distance, row - distance }) do
      local found = other >= 0 and in_row(buf, name, other) or {}
      if #found > 0 then
        return found
      end
    end
  end
  return {}
end

---@return claude-code.Occurrence[] the first MAX_OCCURRENCES in the buffer
local function all(buf, name)
  local list = {}
  for i, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    if line:find(name, 1, true) and #list < MAX_OCCURRENCES then
      vim.list_extend(list, in_row(buf, name, i - 1))
    end
  end
  return vim.list_slice(list, 1, MAX_OCCURRENCES)
end

---Groups occurrences by symbol: those with a common definition belong together. The place of an occurrence counts as
---its definition, too, since clangd leads from a definition to its prototype, and from there back.
---@return { occurrence: claude-code.Occurrence, places: claude-code.ServerPlace[] }[], claude-code.ServerAnswer[]
local function groups_of(list)
  local questions, about = {}, {}
  for _, at in ipairs(list) do
    for _, client in ipairs(request.capable(at.buf, DEFINITION)) do
      questions[#questions + 1] = { client = client, question = position.question(at, DEFINITION) }
      about[#about + 1] = at
    end
  end
  local answers = request.each(questions)
  local groups, by_key = {}, {}
  for i, answer in ipairs(answers) do
    local places = position.places({ answer })
    local own = position.key(position.own_place(about[i], answer.client.offset_encoding))
    local into = by_key[own]
    for _, place in ipairs(places) do
      into = into or by_key[position.key(place)]
    end
    if not into and #places > 0 then
      into = { occurrence = about[i], places = {} }
      groups[#groups + 1] = into
    end
    for _, place in ipairs(places) do
      local key = position.key(place)
      if by_key[key] ~= into then
        table.insert(into.places, place)
      end
      -- Prefer the definition: clangd also leads there from a comment, but answers nothing else about the comment.
      into.occurrence = key == own and about[i] or into.occurrence
      by_key[key], by_key[own] = into, into
    end
  end
  return groups, answers
end

local function in_file(params, name)
  local buf, failure = files.file(params.file, params.named)
  if not buf then
    return nil, failure
  end
  local line = params.line
  local row = line and math.min(line, api.nvim_buf_line_count(buf)) - 1
  local list = row and near(buf, name, row) or all(buf, name)
  if #list == 0 then
    local file = path.title(api.nvim_buf_get_name(buf), ":.")
    local where = line and ("near line %d of %s"):format(line, file) or "in " .. file
    return task.fail("not_found", "`%s` is not %s.", name, where)
  end
  local groups, answers = groups_of(list)
  failure = #groups == 0 and request.failure_of(answers) or nil
  if failure then
    return nil, failure
  end
  local first = groups[1] or { occurrence = list[1], places = {} }
  local symbol = { name = name, definitions = first.places, answers = answers }
  symbol = vim.tbl_extend("error", symbol, first.occurrence)
  if #groups > 1 and not row then
    symbol.candidates = vim.tbl_map(function(group)
      return group.places[1]
    end, groups)
  end
  return symbol
end

---Splits qualified names: `Parser.parse`, `parser::parse`, `Parser#parse`. Servers may add parameters, a package, a
---receiver (gopls: "(*Square).Area") or a declaration (rust-analyzer: "impl Shape for Square").
---@return string name, string? parent
local function parts_of(name)
  name = name:match("^impl.*%sfor%s+(.+)") or name
  name = name:gsub("^%(%*?([^%)%[]+)[^%)]*%)", "%1")
  local parts = {} ---@type string[]
  for part in (name:match("^[^%(<%s]+") or name):gmatch("[^%.:#]+") do
    parts[#parts + 1] = part
  end
  return parts[#parts] or name, parts[#parts - 1]
end

---@alias claude-code.WorkspaceSymbol { container?: string, place: claude-code.ServerPlace, client: vim.lsp.Client }

---@param name string not empty, since some servers would answer with all symbols
---@return claude-code.WorkspaceSymbol[] with that name, outside of private files
---@return claude-code.ServerAnswer[]
local function find(name)
  local found, seen = {}, {} ---@type claude-code.WorkspaceSymbol[], table<string, true>
  local clients = request.running(WORKSPACE)
  local answers = request.all(clients, { method = WORKSPACE, params = { query = name } })
  for _, answer in ipairs(answers) do
    local result = type(answer.result) == "table" and answer.result or {}
    for _, item in ipairs(vim.list_slice(result, 1, MAX_SYMBOLS)) do
      local given = type(item.name) == "string" and item.name or ""
      local bare, parent = parts_of(given)
      local place = (given == name or bare == name)
        and type(item.location) == "table"
        and position.place(item.location, answer.client)
      local key = place and place.uri .. place.row
      if place and not seen[key] and not privacy.is_private(place.path or place.uri) then
        seen[key] = true
        local container = parent or item.containerName
        container = type(container) == "string" and container:match("[^%.:#/]+$") or nil
        table.insert(found, { container = container, place = place, client = answer.client })
      end
      task.breathe()
    end
  end
  return found, answers
end

---@return claude-code.WorkspaceSymbol[] those that pass the test, or else all
local function preferred(list, test)
  local some = vim.tbl_filter(test, list)
  return #some > 0 and some or list
end

local function at_place(found, name)
  local buf, failure = files.file({ found.place.path })
  if not buf then
    return nil, failure
  end
  -- Some servers give the range of the whole declaration, which does not begin with the name.
  local at = position.occurrence(buf, found.place)
  local list = near(buf, name, found.place.row)
  local is_exact = vim.iter(list):any(function(one)
    return vim.deep_equal(one, at)
  end)
  at = is_exact and at or list[1] or at
  local own = position.own_place(at, found.place.encoding)
  local symbol = { name = name, definitions = { own }, answers = { { client = found.client } } }
  return vim.tbl_extend("error", symbol, at)
end

local function in_project(params, name, parent)
  local list, answers = find(name)
  if #answers == 0 then
    local text = "No language server that runs in Neovim knows the project's symbols. "
      .. "Give the `path` of a file in which the name occurs, or use Grep."
    return task.fail("no_server", text)
  elseif #list == 0 then
    local text = "No symbol `%s` in the project. For words in texts use Grep."
    local unknown = { code = "not_found", message = text:format(params.symbol) }
    return nil, request.not_ready(answers, params.symbol) or unknown
  end
  list = preferred(list, function(symbol)
    return position.is_own(symbol.place.path)
  end)
  list = preferred(list, function(symbol)
    return parent ~= nil and symbol.container == parent
  end)
  if #list == 1 and list[1].place.path then
    return at_place(list[1], name)
  end
  local places = vim.tbl_map(function(symbol)
    return symbol.place
  end, list)
  return { name = name, definitions = {}, answers = answers, candidates = places }
end

---Finds the symbol in a task, after buffers and servers have noticed what other programs wrote.
---@param params table of `find_symbol` in src/editor/methods.ts
---@return claude-code.Symbol?, claude-code.Failure?
function M.find(params)
  files.take_over(params.changes)
  local name, parent = parts_of(params.symbol)
  local symbol, failure = (params.file and in_file or in_project)(params, name, parent)
  require("claude-code.lib.sort")(symbol and symbol.candidates or {}, "uri", "row")
  return symbol, failure
end

return M
