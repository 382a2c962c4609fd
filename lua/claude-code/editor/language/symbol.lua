--- The symbol that Claude means: by its name, with a file and a line if Claude knows one, never by a
--- column. Any occurrence will do; that several of them are the same symbol, the language servers say.
local document_symbols = require("claude-code.editor.language.document_symbols")
local occurrences = require("claude-code.editor.language.occurrences")
local open = require("claude-code.editor.language.open")
local position = require("claude-code.editor.language.position")
local ready = require("claude-code.editor.language.ready")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")

local DEFINITION = "textDocument/definition"

local M = {}

---@class claude-code.Symbol
---@field name string
---@field buf integer where servers are asked
---@field row integer 0-based, of an occurrence
---@field col integer 0-based byte
---@field definitions claude-code.Place[] at least one, unless the servers know no definitions
---@field answers claude-code.ServerAnswer[]

---@class claude-code.SymbolGroup one symbol of that name
---@field occurrence claude-code.Occurrence
---@field places claude-code.Place[]
---@field declared? claude-code.DocumentSymbol

---@class claude-code.SymbolQuestion
---@field buf integer
---@field name claude-code.SymbolName
---@field row? integer 0-based

---@param place claude-code.Place
---@return string
local function key_of(place)
  return place.uri .. "\0" .. place.row .. "\0" .. place.character
end

---Occurrences whose definitions have a place in common are one symbol. An occurrence belongs to its
---own place, too: a server may lead from a definition to a declaration and back.
---@param buf integer
---@param found { occurrence: claude-code.Occurrence, places: claude-code.Place[], encoding: string }[]
---@return claude-code.SymbolGroup[] in the order of the file
local function group(buf, found)
  local groups, by_key, uri = {}, {}, vim.uri_from_bufnr(buf)
  local function own_key(entry)
    local row, col = entry.occurrence.row, entry.occurrence.col
    local character = position.to_character(position.line(buf, row), col, entry.encoding)
    return uri .. "\0" .. row .. "\0" .. character
  end
  local function merge(into, other)
    for key, owner in pairs(by_key) do
      if owner == other then
        by_key[key] = into
      end
    end
    vim.list_extend(into.places, other.places)
    other.is_merged = true
  end
  for _, entry in ipairs(found) do
    local into = by_key[own_key(entry)]
    if not into then
      into = { occurrence = entry.occurrence, places = {} }
      groups[#groups + 1] = into
      by_key[own_key(entry)] = into
    end
    for _, place in ipairs(entry.places) do
      local owner = by_key[key_of(place)]
      if not owner then
        by_key[key_of(place)] = into
        into.places[#into.places + 1] = place
      elseif owner ~= into then
        merge(owner, into)
        into = owner
      elseif
        not vim.iter(into.places):any(function(other)
          return key_of(other) == key_of(place)
        end)
      then
        into.places[#into.places + 1] = place
      end
    end
  end
  return vim.tbl_filter(function(entry)
    return not entry.is_merged
  end, groups)
end

---In a task: which symbols these occurrences are.
---@param buf integer
---@param list claude-code.Occurrence[]
---@return claude-code.SymbolGroup[]
---@return claude-code.ServerAnswer[]
function M.groups(buf, list)
  local questions, about = {}, {}
  for _, occurrence in ipairs(list) do
    for _, client in ipairs(servers.capable(buf, DEFINITION)) do
      local params = position.params(client, buf, occurrence.row, occurrence.col)
      questions[#questions + 1] =
        { client = client, question = { method = DEFINITION, params = params, buf = buf } }
      about[#about + 1] = occurrence
    end
  end
  local answers, found = request.each(questions), {}
  for i, answer in ipairs(answers) do
    local places = position.places(answer)
    if #places > 0 then
      found[#found + 1] =
        { occurrence = about[i], places = places, encoding = answer.client.offset_encoding }
    end
  end
  return group(buf, found), answers
end

---@param declared claude-code.DocumentSymbol?
---@param parents string[]
---@return boolean
local function has_parents(declared, parents)
  local above = declared and declared.parents or {}
  for i = 0, #parents - 1 do
    local part = above[#above - i]
    if not part or document_symbols.bare(part) ~= parents[#parents - i] then
      return false
    end
  end
  return declared ~= nil
end

---In a task: what is declared at the place, if that is in a file of the workspace.
---@param place claude-code.Place
---@return claude-code.DocumentSymbol?
function M.declared_at(place)
  local buf = place.path and not M.is_dependency(place.path) and open.file({ place.path })
  return buf and document_symbols.at(document_symbols.of(buf), place) or nil
end

---@param path string
---@return boolean is it of a package that the project uses?
function M.is_dependency(path)
  return path:find("/node_modules/", 1, true) ~= nil
    or path:find("/site%-packages/") ~= nil
    or path:find("/%.?venv/") ~= nil
end

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

---@param question claude-code.SymbolQuestion
---@return claude-code.Failure
local function not_found(question)
  local name, buf = question.name.last, question.buf
  local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":.")
  local where = question.row and ("near line %d of %s"):format(question.row + 1, file)
    or "in " .. file
  local similar = occurrences.similar(buf, name, 5)
  local text = ("`%s` is not %s."):format(name, where)
  if #similar > 0 then
    text = text .. " Similar names there: " .. table.concat(similar, ", ") .. "."
  end
  return { code = "not_found", message = text }
end

---In a task: the symbol in a file. Several: which ones, for Claude to choose from.
---@param question claude-code.SymbolQuestion
---@return claude-code.Symbol?
---@return claude-code.Failure?
---@return claude-code.SymbolGroup[]? several
---@return claude-code.ServerAnswer[]?
function M.in_file(question)
  local list = looked_at(question)
  if #list == 0 then
    return nil, not_found(question)
  end
  local groups, answers = ready.retry_empty(servers.capable(question.buf, DEFINITION), function()
    return M.groups(question.buf, list)
  end)
  local failure = #groups == 0 and ready.failure_of(answers)
  if failure then
    return nil, failure
  end
  groups = with_parents(declared_on(groups, question), question.name.parents)
  if #groups > 1 then
    return nil, nil, groups, answers
  end
  local only = groups[1]
  local at = only and only.occurrence or list[1]
  local symbol = {
    name = question.name.last,
    buf = question.buf,
    row = at.row,
    col = at.col,
    definitions = only and only.places or {},
    answers = answers,
  }
  return symbol, nil, nil, answers
end

return M
