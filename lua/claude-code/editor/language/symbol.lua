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
---@field candidates? claude-code.ServerPlace[] several symbols have the name: where each is defined

---`Parser.parse`, `parser::parse`, `Parser#parse` and `Parser/parse` name one of several.
---@param given string
---@return string name
---@return string? parent
local function parse(given)
  local parts = {} ---@type string[]
  for part in given:gsub("%b()%s*$", ""):gmatch("[^%.:#/%s]+") do
    parts[#parts + 1] = part
  end
  return parts[#parts] or given, parts[#parts - 1]
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
  local answers = request.settled(questions)
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
      -- clangd leads from comments to a definition, too, and to nothing else.
      into.occurrence = key == own and about[i] or into.occurrence
      by_key[key], by_key[own] = into, into
    end
  end
  return groups, answers
end

---@generic T
---@param list T[]
---@param test fun(entry: T): boolean
---@return T[] those that pass; all if none does
local function preferred(list, test)
  local some = vim.tbl_filter(test, list)
  return #some > 0 and some or list
end

---@param group claude-code.SymbolGroup
---@param name string
---@param answers claude-code.ServerAnswer[]
---@return claude-code.Symbol
local function symbol_of(group, name, answers)
  local about = { name = name, definitions = group.places, answers = answers }
  return vim.tbl_extend("error", about, group.occurrence)
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
---@return claude-code.Symbol?
---@return claude-code.Failure?
local function in_file(params, name)
  local buf, failure = files.named(params)
  if not buf then
    return nil, failure
  end
  local row = params.line and math.min(params.line, api.nvim_buf_line_count(buf)) - 1
  local list = row and near(buf, name, row) or all(buf, name)
  if #list == 0 then
    return nil, not_in_file(buf, name, params.line)
  end
  local groups, answers = groups_of(list)
  failure = #groups == 0 and request.failure_of(answers) or nil
  if failure then
    return nil, failure
  elseif row and #groups > 1 then
    -- What a declaration holds comes behind its name.
    groups = preferred(groups, function(group)
      local at = group.occurrence
      return vim.iter(group.places):any(function(place)
        return place.uri == vim.uri_from_bufnr(buf) and place.row == at.row
      end)
    end)
    groups = { groups[1] }
  end
  local symbol = symbol_of(groups[1] or { occurrence = list[1], places = {} }, name, answers)
  symbol.candidates = #groups > 1
      and vim.tbl_map(function(group)
        return group.places[1]
      end, groups)
    or nil
  return symbol
end

---In a task: the symbol that servers find in the project, at a place that they give.
---@param place claude-code.ServerPlace
---@param name string
---@return claude-code.Symbol?
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
  local group = groups[1] or { occurrence = occurrence, places = {} }
  -- clangd leads from a definition to its prototype.
  local own = position.own_place(occurrence, place.encoding)
  group.places = vim.tbl_filter(function(other)
    return position.key(other) ~= position.key(own)
  end, group.places)
  table.insert(group.places, 1, own)
  return symbol_of(group, name, answers)
end

---@param params claude-code.SymbolParams
---@param name string
---@param parent string?
---@return claude-code.Symbol?
---@return claude-code.Failure?
local function in_project(params, name, parent)
  local exact, similar, answers, is_settled = declarations.find(name)
  if #answers == 0 then
    local message = "No language server that runs in Neovim knows the project's symbols. "
      .. "Give the `path` of a file in which the name occurs, or use Grep."
    return nil, { code = "no_server", message = message }
  end
  local function is_public(symbol)
    return not privacy.is_private(symbol.place.path or symbol.place.uri)
  end
  local list = preferred(vim.tbl_filter(is_public, exact), function(symbol)
    return position.is_own(symbol.place.path)
  end)
  list = preferred(list, function(symbol)
    return parent ~= nil and (symbol.container or ""):match("[^%.:#/]+$") == parent
  end)
  if #list == 1 and list[1].place.path then
    return at_place(list[1].place, name)
  elseif #list > 0 then
    local places = vim.tbl_map(function(symbol)
      return symbol.place
    end, list)
    return { name = name, definitions = {}, answers = answers, candidates = places }
  end
  local names = vim.tbl_map(function(symbol)
    return declarations.bare(symbol.name)
  end, vim.tbl_filter(is_public, similar))
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
---@return claude-code.Symbol?
---@return claude-code.Failure?
function M.find(params)
  files.take_over(params.changes)
  local name, parent = parse(params.symbol)
  local symbol, failure = (params.file and in_file or in_project)(params, name, parent)
  table.sort(symbol and symbol.candidates or {}, function(a, b)
    return a.uri < b.uri or a.uri == b.uri and a.row < b.row
  end)
  return symbol, failure
end

return M
