--- Callers and callees, supertypes and subtypes of a symbol.
local declarations = require("claude-code.editor.language.declarations")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.lib.task")

---@class claude-code.HierarchyRelation
---@field prepare string
---@field method string
---@field depth integer
---@field item string the field of an answer's entry with the item; "" if it is the entry itself

local CALLS, TYPES = "textDocument/prepareCallHierarchy", "textDocument/prepareTypeHierarchy"
---@type table<string, claude-code.HierarchyRelation>
local RELATIONS = {
  callers = { prepare = CALLS, method = "callHierarchy/incomingCalls", depth = 1, item = "from" },
  callees = { prepare = CALLS, method = "callHierarchy/outgoingCalls", depth = 1, item = "to" },
  supertypes = { prepare = TYPES, method = "typeHierarchy/supertypes", depth = 3, item = "" },
  subtypes = { prepare = TYPES, method = "typeHierarchy/subtypes", depth = 3, item = "" },
}
---In all.
local MOST_ITEMS = 500

local M = {}

---@class claude-code.HierarchyItem
---@field name string
---@field kind string
---@field depth integer from 1
---@field at claude-code.LanguagePlaces where it is declared: one place, or none if that is private
---@field calls? claude-code.LanguagePlaces

---@param item table CallHierarchyItem or TypeHierarchyItem
---@param place claude-code.ServerPlace of it
---@param entry table what the server answered
---@param client vim.lsp.Client
---@param depth integer
---@param relation claude-code.HierarchyRelation
---@return claude-code.HierarchyItem
local function describe(item, place, entry, client, depth, relation)
  local calls
  if relation.item ~= "" then
    -- The ranges of outgoing calls are in the caller, which is not the item.
    local uri = relation.item == "from" and item.uri or entry.caller_uri
    calls = {}
    for _, range in ipairs(type(entry.fromRanges) == "table" and entry.fromRanges or {}) do
      calls[#calls + 1] = position.place({ uri = uri, range = range }, client)
      task.breathe()
    end
  end
  return {
    name = tostring(item.name),
    kind = declarations.kind_name(item.kind),
    depth = depth,
    at = position.answer({ place }),
    calls = calls and position.answer(calls),
  }
end

---@param client vim.lsp.Client
---@param item table
---@param relation claude-code.HierarchyRelation
---@param depth integer
---@param list claude-code.HierarchyItem[]
---@param seen table<string, true>
---@return claude-code.ServerAnswer[] of the item itself
---@return boolean are_all_there of what is below it
local function collect(client, item, relation, depth, list, seen)
  local question = { method = relation.method, params = { item = item } }
  local asked, are_all_there = request.all({ client }, question), true
  local result = asked[1].result
  for _, entry in ipairs(type(result) == "table" and result or {}) do
    entry = type(entry) == "table" and entry or {}
    local other = relation.item == "" and entry or entry[relation.item] or {}
    local place = position.place({ uri = other.uri, range = other.selectionRange }, client)
    local key = place and ("%s\0%d\0%d"):format(place.uri, place.row, place.character)
    if not place or not key then
      are_all_there = false
    elseif not seen[key] and #list < MOST_ITEMS then
      seen[key] = true
      entry.caller_uri = item.uri
      list[#list + 1] = describe(other, place, entry, client, depth, relation)
      if depth < relation.depth then
        local below, is_whole = collect(client, other, relation, depth + 1, list, seen)
        are_all_there = are_all_there and is_whole and not below[1].failure
      end
    elseif not seen[key] then
      are_all_there = false
    end
  end
  return asked, are_all_there
end

---In a task.
---@param symbol claude-code.Symbol
---@param name "callers"|"callees"|"supertypes"|"subtypes"
---@return claude-code.HierarchyItem[]?
---@return claude-code.ServerAnswer[]? nil if no server of the file knows such hierarchies
---@return boolean settled
function M.find(symbol, name)
  local relation = RELATIONS[name]
  local clients = servers.capable(symbol.buf, relation.prepare)
  if #clients == 0 then
    return nil, nil, false
  end
  local question = position.question(symbol, relation.prepare)
  local prepared, settled = request.settled(clients, question)
  local list, seen, answers = {}, {}, {}
  for _, answer in ipairs(prepared) do
    for _, item in ipairs(type(answer.result) == "table" and answer.result or {}) do
      local asked, are_all_there = collect(answer.client, item, relation, 1, list, seen)
      vim.list_extend(answers, asked)
      settled = settled and are_all_there
    end
  end
  return list, #answers > 0 and answers or prepared, settled
end

return M
