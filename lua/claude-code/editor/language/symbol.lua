--- The symbol that Claude means: by its name, with a file and a line if Claude knows one, never by a column.
--- Any occurrence will do: the language servers say what it is, by its definitions.
local api = vim.api
local closest = require("claude-code.messages.closest")
local declarations = require("claude-code.editor.language.declarations")
local files = require("claude-code.editor.language.files")
local lines = require("claude-code.editor.documents.lines")
local position = require("claude-code.editor.language.position")
local privacy = require("claude-code.editor.privacy")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")

local DEFINITION = "textDocument/definition"

---Claude's line numbers may be from before an edit: the name is searched up to so many lines away.
local TOLERANCE = 5
---The most occurrences about which servers are asked.
local MAX_OCCURRENCES = 24

local M = {}

---@class claude-code.SymbolParams
---@field symbol string a name, or one with those around it: "Parser.parse"
---@field file? string[] the possible paths of a file in which it occurs
---@field named? string the first of them, as it was given
---@field line? integer 1-based
---@field changes? claude-code.ChangedFile[]

---@class claude-code.Symbol : claude-code.Occurrence where servers are asked
---@field name string without those around it
---@field definitions claude-code.ServerPlace[] none if the servers know none
---@field answers claude-code.ServerAnswer[]

---@class claude-code.SymbolCandidate
---@field place claude-code.ServerPlace
---@field kind? string
---@field container? string

---@class claude-code.LocatedSymbol
---@field symbol? claude-code.Symbol
---@field candidates? claude-code.SymbolCandidate[] several symbols have the name
---@field answers claude-code.ServerAnswer[]

---`Parser.parse`, `parser::parse`, `Parser#parse` and `Parser/parse` name one of several.
---@param given string
---@return string name
---@return string[] parents from the outermost on
local function parse(given)
  local parts = {} ---@type string[]
  for part in given:gsub("%b()%s*$", ""):gmatch("[^%.:#/%s]+") do
    parts[#parts + 1] = part
  end
  return table.remove(parts) or given, parts
end

---@param char string
local function is_word(char)
  return char:find("^[%w_\128-\255]") ~= nil
end

---@param row integer
---@return claude-code.Occurrence[] of the name as a whole word
local function in_row(buf, name, row)
  local line, list, from = lines.at(buf, row), {}, 1
  while true do
    local first, last = line:find(name, from, true)
    if not first or not last then
      return list
    end
    local starts = not (is_word(name) and is_word(line:sub(first - 1, first - 1)))
    local ends = not (is_word(name:sub(-1)) and is_word(line:sub(last + 1, last + 1)))
    if (first == 1 or starts) and ends then
      list[#list + 1] = { buf = buf, row = row, col = first - 1 }
    end
    from = last + 1
  end
end

---@param row integer 0-based
---@return claude-code.Occurrence[] on that row, or on the nearest one that has some
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

---@return claude-code.Occurrence[] the first ones in the buffer
local function all(buf, name)
  local list = {}
  for i, line in ipairs(api.nvim_buf_get_lines(buf, 0, -1, false)) do
    if line:find(name, 1, true) then
      vim.list_extend(list, in_row(buf, name, i - 1))
    end
    if #list >= MAX_OCCURRENCES then
      break
    end
  end
  return vim.list_slice(list, 1, MAX_OCCURRENCES)
end

---@class claude-code.SymbolGroup one symbol of that name
---@field occurrence claude-code.Occurrence
---@field places claude-code.ServerPlace[]
---@field declared? claude-code.DocumentSymbol

---Occurrences with a definition in common are one symbol. An occurrence belongs to its own place, too:
---clangd leads from a definition to its prototype, and from there back.
---@param list claude-code.Occurrence[]
---@return claude-code.SymbolGroup[] in the order of the occurrences
---@return claude-code.ServerAnswer[]
local function groups_of(list)
  local questions, about = {}, {}
  for _, at in ipairs(list) do
    for _, client in ipairs(servers.capable(at.buf, DEFINITION)) do
      questions[#questions + 1] = { client = client, question = position.question(at, DEFINITION) }
      about[#about + 1] = at
    end
  end
  local answers, groups, by_key = request.each(questions), {}, {}
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
      -- clangd leads from comments to a definition, too, and to nothing else.
      into.occurrence = key == own and about[i] or into.occurrence
      by_key[key], by_key[own] = into, into
    end
  end
  return groups, answers
end

---In a task: what is declared at the place, if that is in a file of the project.
---@param place claude-code.ServerPlace
---@return claude-code.DocumentSymbol?
---@return integer? buf
function M.declared_at(place)
  local buf = position.is_own(place.path) and files.file({ place.path }) or nil
  return buf and declarations.at(buf, place), buf
end

---@param declared claude-code.DocumentSymbol?
---@param parents string[]
local function has_parents(declared, parents)
  local above = declared and declared.parents or {}
  for i = 0, #parents - 1 do
    local part = above[#above - i]
    if not part or declarations.bare(part) ~= parents[#parents - i] then
      return false
    end
  end
  return declared ~= nil
end

---@generic T
---@param list T[]
---@param test fun(entry: T): boolean
---@return T[] those that pass; all if none does
local function preferred(list, test)
  local some = vim.tbl_filter(test, list)
  return #some > 0 and some or list
end

---In a task: the symbol that is meant, or several for Claude to choose from.
---@param groups claude-code.SymbolGroup[] one at least
---@param name string
---@param parents string[]
---@param answers claude-code.ServerAnswer[]
---@return claude-code.LocatedSymbol
local function chosen(groups, name, parents, answers)
  if #groups > 1 then
    for _, entry in ipairs(groups) do
      entry.declared = M.declared_at(entry.places[1])
    end
    groups = preferred(groups, function(entry)
      return has_parents(entry.declared, parents)
    end)
  end
  local only = groups[1]
  if #groups == 1 then
    local about = { name = name, definitions = only.places, answers = answers }
    return { symbol = vim.tbl_extend("error", about, only.occurrence), answers = answers }
  end
  local candidates = vim.tbl_map(function(entry)
    local declared = entry.declared or { parents = {} }
    local container = table.concat(declared.parents, ".")
    local place = entry.places[1]
    return { place = place, kind = declared.kind, container = container ~= "" and container or nil }
  end, groups)
  return { candidates = candidates, answers = answers }
end

---In a task.
---@param line integer? 1-based
---@return claude-code.Failure
local function not_in_file(buf, name, line)
  local file = vim.fn.fnamemodify(api.nvim_buf_get_name(buf), ":.")
  local where = line and ("near line %d of %s"):format(line, file) or "in " .. file
  local names = vim.tbl_map(function(declared)
    return declarations.bare(declared.name)
  end, (declarations.of(buf)))
  local meant = closest(name, names)
  local hint = meant and meant ~= name and (" Did you mean `%s`?"):format(meant) or ""
  return { code = "not_found", message = ("`%s` is not %s.%s"):format(name, where, hint) }
end

---In a task.
---@param params claude-code.SymbolParams
---@param name string
---@param parents string[]
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
local function in_file(params, name, parents)
  local buf, failure = files.named(params)
  if not buf then
    return nil, failure
  end
  local row = params.line and math.min(params.line, api.nvim_buf_line_count(buf)) - 1
  local list = row and near(buf, name, row) or all(buf, name)
  if #list == 0 then
    return nil, not_in_file(buf, name, params.line)
  end
  local groups, answers = request.patiently(servers.capable(buf, DEFINITION), function()
    return groups_of(list)
  end, function(_, found)
    return #found > 0
  end)
  failure = #groups == 0 and request.failure_of(answers) or nil
  if failure then
    return nil, failure
  elseif #groups == 0 then
    groups = { { occurrence = list[1], places = {} } }
  elseif row and #groups > 1 then
    -- What a declaration holds comes behind its name.
    local uri = vim.uri_from_bufnr(buf)
    groups = preferred(groups, function(entry)
      return vim.iter(entry.places):any(function(place)
        return place.uri == uri and place.row == entry.occurrence.row
      end)
    end)
    groups = { groups[1] }
  end
  return chosen(groups, name, parents, answers)
end

---In a task: the symbol that servers find in the project.
---@param place claude-code.ServerPlace
---@param name string
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
local function at_place(place, name)
  local buf, failure = files.file({ place.path })
  if not buf then
    return nil, failure
  end
  -- Some servers give the range of the whole declaration.
  local at = position.occurrence(buf, place)
  local list = near(buf, name, place.row)
  local occurrence = vim.iter(list):find(function(one)
    return vim.deep_equal(one, at)
  end) or list[1] or at
  local groups, answers = groups_of({ occurrence })
  groups = #groups > 0 and groups or { { occurrence = occurrence, places = { place } } }
  return chosen(groups, name, {}, answers)
end

---@param params claude-code.SymbolParams
---@param name string
---@param parents string[]
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
local function in_project(params, name, parents)
  local exact, similar, answers, is_settled = declarations.find(name)
  if #answers == 0 then
    local message = "No language server that runs in Neovim knows the project's symbols. "
      .. "Give the `path` of a file in which the name occurs, or use Grep."
    return nil, { code = "no_server", message = message }
  end
  local list = preferred(exact, function(symbol)
    return position.is_own(symbol.place.path)
  end)
  local parent = parents[#parents]
  list = preferred(list, function(symbol)
    return parent ~= nil and (symbol.container or ""):match("[^%.:#/]+$") == parent
  end)
  if #list == 1 and list[1].place.path then
    return at_place(list[1].place, name)
  elseif #list > 0 then
    return { candidates = list, answers = answers }
  end
  local names = {}
  for _, symbol in ipairs(similar) do
    if not privacy.is_private(symbol.place.path or symbol.place.uri) then
      names[#names + 1] = declarations.bare(symbol.name)
    end
  end
  local meant = closest(name, names)
  local hint = meant and ("Did you mean `%s`? "):format(meant) or ""
  local text = "No symbol `%s` in the project. %sFor words in texts use Grep."
  return nil,
    request.not_ready(request.states(answers, is_settled), params.symbol) or {
      code = "not_found",
      message = text:format(params.symbol, hint),
    }
end

---In a task, once buffers and servers have taken over what was written outside.
---@param params claude-code.SymbolParams
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
function M.find(params)
  files.take_over(params.changes)
  local name, parents = parse(params.symbol)
  local found, failure = (params.file and in_file or in_project)(params, name, parents)
  table.sort(found and found.candidates or {}, function(a, b)
    local x, y = a.place, b.place
    return x.uri < y.uri or x.uri == y.uri and x.row < y.row
  end)
  return found, failure
end

return M
