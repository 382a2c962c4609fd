--- Which occurrences of a name are one symbol: language servers say so by its definitions.
local document_symbols = require("claude-code.editor.language.document_symbols")
local open = require("claude-code.editor.language.open")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")

local DEFINITION = "textDocument/definition"

local M = { METHOD = DEFINITION }

---@class claude-code.SymbolGroup one symbol of that name
---@field occurrence claude-code.Occurrence
---@field places claude-code.Place[]
---@field declared? claude-code.DocumentSymbol

---@class claude-code.FoundDefinition
---@field occurrence claude-code.Occurrence
---@field places claude-code.Place[]
---@field encoding string

---@param place claude-code.Place
---@return string
local function key_of(place)
  return place.uri .. "\0" .. place.row .. "\0" .. place.character
end

---@param found claude-code.FoundDefinition
---@return string
local function own_key(found)
  local at = found.occurrence
  return key_of(position.own_place(at.buf, at.row, at.col, found.encoding))
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

---@param places claude-code.Place[]
---@return claude-code.Place[]
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
function M.of(list)
  local questions, about = {}, {}
  for _, at in ipairs(list) do
    for _, client in ipairs(servers.capable(at.buf, DEFINITION)) do
      local params = position.params(client, at.buf, at.row, at.col)
      local question = { method = DEFINITION, params = params, buf = at.buf }
      questions[#questions + 1] = { client = client, question = question }
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

---In a task: with those merged that are one symbol by the definitions of their definitions. A server
---leads from a call to one of several overloads, and from each of those to the one with the body.
---@param groups claude-code.SymbolGroup[] with one definition at least
---@return claude-code.SymbolGroup[]
function M.merged(groups)
  local at, others = {}, {} ---@type claude-code.Occurrence[], claude-code.SymbolGroup[]
  for _, entry in ipairs(groups) do
    local place = entry.places[1]
    local buf = M.is_own(place.path) and open.file({ place.path })
    if buf then
      local col = position.to_byte(position.line(buf, place.row), place.character, place.encoding)
      at[#at + 1] = { buf = buf, row = place.row, col = col }
    else
      others[#others + 1] = entry
    end
  end
  local again = vim.list_extend(M.of(at), others)
  return #again > 0 and #again < #groups and again or groups
end

---In a task: what is declared at the place, if that is in a file of the project.
---@param place claude-code.Place
---@return claude-code.DocumentSymbol?
---@return integer? buf
function M.declared_at(place)
  local buf = M.is_own(place.path) and open.file({ place.path })
  local declared = buf and document_symbols.at(buf, place) or nil
  return declared, buf or nil
end

---@param path string?
---@return boolean is it of the project, and not of a package that it uses?
function M.is_own(path)
  return path ~= nil
    and require("claude-code.editor.diagnostics.hidden").is_in_workspace(path)
    and not path:find("/node_modules/", 1, true)
    and not path:find("/site%-packages/")
    and not path:find("/%.?venv/")
end

return M
