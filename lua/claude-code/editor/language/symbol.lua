--- The symbol that Claude means: by its name, with a file and a line if Claude knows one, never by a
--- column. Any occurrence will do; that several of them are the same symbol, the language servers say by
--- its definitions.
local background = require("claude-code.editor.documents.background")
local closest = require("claude-code.messages.closest")
local declarations = require("claude-code.editor.language.declarations")
local files = require("claude-code.editor.language.files")
local occurrences = require("claude-code.editor.language.occurrences")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")

local DEFINITION = "textDocument/definition"

local M = {}

---@class claude-code.SymbolGroup one symbol of that name
---@field occurrence claude-code.Occurrence
---@field places claude-code.ServerPlace[]
---@field declared? claude-code.DocumentSymbol

---@class claude-code.FoundDefinition
---@field occurrence claude-code.Occurrence
---@field places claude-code.ServerPlace[]
---@field encoding string

---@param place claude-code.ServerPlace
local function key_of(place)
  return place.uri .. "\0" .. place.row .. "\0" .. place.character
end

---@param found claude-code.FoundDefinition
local function own_key(found)
  return key_of(position.own_place(found.occurrence, found.encoding))
end

---Occurrences whose definitions have a place in common are one symbol. An occurrence belongs to its
---own place, too: a server may lead from a definition to a declaration and back.
---@param list claude-code.FoundDefinition[]
---@return claude-code.SymbolGroup[] in the order of the occurrences
local function group(list)
  local groups, by_key = {}, {} ---@type claude-code.SymbolGroup[], table<string, claude-code.SymbolGroup>
  for _, found in ipairs(list) do
    local into = by_key[own_key(found)]
    for _, place in ipairs(found.places) do
      local other = by_key[key_of(place)]
      if into and other and other ~= into then
        vim.list_extend(into.places, other.places)
        for key, owner in pairs(by_key) do
          by_key[key] = owner == other and into or owner
        end
        groups = vim.tbl_filter(function(entry)
          return entry ~= other
        end, groups)
      end
      into = into or other
    end
    if not into then
      into = { occurrence = found.occurrence, places = {} }
      groups[#groups + 1] = into
    end
    by_key[own_key(found)] = into
    for _, place in ipairs(found.places) do
      by_key[key_of(place)] = into
      into.places[#into.places + 1] = place
    end
  end
  for _, entry in ipairs(groups) do
    entry.places = M.distinct(entry.places)
  end
  return groups
end

---@param places claude-code.ServerPlace[]
---@return claude-code.ServerPlace[]
function M.distinct(places)
  local seen = {}
  return vim.tbl_filter(function(place)
    local key = key_of(place)
    local is_new = not seen[key]
    seen[key] = true
    return is_new
  end, places)
end

---In a task: which symbols these occurrences are.
---@param list claude-code.Occurrence[]
---@return claude-code.SymbolGroup[]
---@return claude-code.ServerAnswer[]
function M.groups(list)
  local questions, about = {}, {}
  for _, at in ipairs(list) do
    for _, client in ipairs(servers.capable(at.buf, DEFINITION)) do
      questions[#questions + 1] = { client = client, question = position.question(at, DEFINITION) }
      about[#about + 1] = at
    end
  end
  local answers, found = request.each(questions), {}
  for i, answer in ipairs(answers) do
    local places, encoding = position.places(answer), answer.client.offset_encoding
    if #places > 0 then
      found[#found + 1] = { occurrence = about[i], places = places, encoding = encoding }
    end
  end
  return group(found), answers
end

---In a task.
---@param place claude-code.ServerPlace
---@return integer? buf of its file, if that is one of the project
local function buffer_of(place)
  return M.is_own(place.path) and files.file({ place.path }) or nil
end

---In a task: with those merged that are one symbol by the definitions of their definitions. A server
---leads from a call to one of several overloads, and from each of those to the one with the body.
---@param groups claude-code.SymbolGroup[] with one definition at least
---@return claude-code.SymbolGroup[]
local function merged(groups)
  local at, others = {}, {} ---@type claude-code.Occurrence[], claude-code.SymbolGroup[]
  for _, entry in ipairs(groups) do
    local place = entry.places[1]
    local buf = buffer_of(place)
    if buf then
      at[#at + 1] = position.occurrence(buf, place)
    else
      others[#others + 1] = entry
    end
  end
  local again = vim.list_extend(M.groups(at), others)
  return #again > 0 and #again < #groups and again or groups
end

---In a task: what is declared at the place, if that is in a file of the project.
---@param place claude-code.ServerPlace
---@return claude-code.DocumentSymbol?
---@return integer? buf
function M.declared_at(place)
  local buf = buffer_of(place)
  return buf and declarations.at(buf, place), buf
end

---@param path string?
---@return boolean is it of the project, and not of a package that it uses?
function M.is_own(path)
  return path ~= nil
    and background.is_in_workspace(path)
    and not path:find("/node_modules/", 1, true)
    and not path:find("/site%-packages/")
    and not path:find("/%.?venv/")
end

---@class claude-code.Symbol : claude-code.Occurrence where servers are asked
---@field name string
---@field definitions claude-code.ServerPlace[] at least one, unless the servers know no definitions
---@field answers claude-code.ServerAnswer[]

---@class claude-code.SymbolCandidate
---@field place claude-code.ServerPlace
---@field kind? string
---@field container? string

---@class claude-code.LocatedSymbol
---@field symbol? claude-code.Symbol
---@field candidates? claude-code.SymbolCandidate[] several symbols have the name
---@field answers claude-code.ServerAnswer[]

---@class claude-code.SymbolQuestion
---@field buf integer
---@field name claude-code.SymbolName
---@field row? integer 0-based

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

---In a task.
---@param groups claude-code.SymbolGroup[]
---@param parents string[]
---@return claude-code.SymbolGroup[] those with these parents; all if none has
local function with_parents(groups, parents)
  if #groups > 1 or #parents > 0 then
    for _, entry in ipairs(groups) do
      entry.declared = entry.places[1] and M.declared_at(entry.places[1])
    end
  end
  local named = #parents == 0 and {}
    or vim.tbl_filter(function(entry)
      return has_parents(entry.declared, parents)
    end, groups)
  return #named > 0 and named or groups
end

---@param groups claude-code.SymbolGroup[]
---@param question claude-code.SymbolQuestion
---@return claude-code.SymbolGroup[] the first that is declared on the line in question: what a declaration
--- holds comes behind its name; all if none is declared there
local function declared_on(groups, question)
  local uri = vim.uri_from_bufnr(question.buf)
  local declared = vim.iter(groups):find(function(entry)
    return vim.iter(entry.places):any(function(place)
      return place.uri == uri and place.row == question.row
    end)
  end)
  return declared and { declared } or groups
end

---@param question claude-code.SymbolQuestion
---@return claude-code.Occurrence[]
local function looked_at(question)
  local name = question.name.last
  if question.row then
    return occurrences.near(question.buf, name, question.row)
  end
  return occurrences.all(question.buf, name)
end

---In a task.
---@param question claude-code.SymbolQuestion
---@return claude-code.Failure
local function not_found(question)
  local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(question.buf), ":.")
  local where = question.row and ("near line %d of %s"):format(question.row + 1, file)
    or "in " .. file
  local name, names = question.name.last, {} ---@type string, string[]
  for _, declared in ipairs((declarations.of(question.buf))) do
    names[#names + 1] = declarations.bare(declared.name)
  end
  local meant = closest(name, names)
  local text = "`%s` is not %s." .. (meant and meant ~= name and " Did you mean `%s`?" or "")
  return { code = "not_found", message = text:format(name, where, meant) }
end

---@param groups claude-code.SymbolGroup[]
---@return claude-code.SymbolCandidate[] in the order of files and lines
local function candidates_of(groups)
  table.sort(groups, function(a, b)
    local x, y = a.places[1], b.places[1]
    return x.uri < y.uri or x.uri == y.uri and x.row < y.row
  end)
  return vim.tbl_map(function(entry)
    local declared = entry.declared
    local parents = declared and table.concat(declared.parents, ".") or ""
    return {
      place = entry.places[1],
      kind = declared and declared.kind,
      container = parents ~= "" and parents or nil,
    }
  end, groups)
end

---In a task: the symbol that is meant, or several for Claude to choose from.
---@param groups claude-code.SymbolGroup[]
---@param name claude-code.SymbolName
---@param answers claude-code.ServerAnswer[]
---@return claude-code.LocatedSymbol? nil if there is none
function M.chosen(groups, name, answers)
  groups = #groups > 1 and merged(groups) or groups
  groups = with_parents(groups, name.parents)
  local only = groups[1]
  if #groups > 1 then
    return { candidates = candidates_of(groups), answers = answers }
  elseif only then
    local about = { name = name.last, definitions = only.places, answers = answers }
    return { symbol = vim.tbl_extend("error", about, only.occurrence), answers = answers }
  end
end

---In a task: the symbol in a file.
---@param question claude-code.SymbolQuestion
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
function M.in_file(question)
  local list = looked_at(question)
  if #list == 0 then
    return nil, not_found(question)
  end
  local clients = servers.capable(question.buf, DEFINITION)
  local groups, answers = request.retry_empty(clients, function()
    return M.groups(list)
  end)
  local failure = #groups == 0 and request.failure_of(answers)
  if failure then
    return nil, failure
  end
  groups = #groups > 0 and declared_on(groups, question)
    or { { occurrence = list[1], places = {} } }
  return M.chosen(groups, question.name, answers)
end

return M
