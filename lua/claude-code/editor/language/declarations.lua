--- The symbols that a file declares, by its language servers, and those of the whole project as they index them.
local lines = require("claude-code.editor.documents.lines")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.lib.task")

local DOCUMENT, WORKSPACE = "textDocument/documentSymbol", "workspace/symbol"
---Of a short name a server may know thousands.
local MAX_SYMBOLS = 5000

local M = {}

---@class claude-code.DocumentSymbol
---@field name string
---@field kind string in words: "method"
---@field detail? string
---@field depth integer 0 at the top
---@field row integer 0-based, of the name
---@field character integer of the name, as the server counts
---@field first_row integer of the whole declaration
---@field last_row integer
---@field is_unnamed? boolean the server gives no place of the name, which is behind first_row then
---@field parents string[] names from the top

---@param kind integer SymbolKind (LSP 3.17)
---@return string
function M.kind_name(kind)
  local name = vim.lsp.protocol.SymbolKind[kind]
  return type(name) == "string" and (name:gsub("(%l)(%u)", "%1 %2")):lower() or "symbol"
end

---A symbol's name as servers give it, in its parts: they add parameters, the package, a receiver
---(gopls: "(*Square).Area") or a whole head (rust-analyzer: "impl Shape for Square").
---@return string bare
---@return string[] parents that the name itself names
local function parts_of(name)
  name = name:match("^impl.*%sfor%s+(.+)")
    or name:match("^impl%b<>%s+(.+)")
    or name:match("^impl%s+(.+)")
    or name
  name = name:gsub("^%(%*?([^%)%[]+)[^%)]*%)", "%1")
  local parents = {} ---@type string[]
  for part in (name:match("^[^%(<%s]+") or name):gmatch("[^%.:#]+") do
    parents[#parents + 1] = part
  end
  return table.remove(parents) or name, parents
end

---@param name string
---@return string without what servers add to it
function M.bare(name)
  return (parts_of(name))
end

---@param item table DocumentSymbol or SymbolInformation
---@return integer row
local function row_of(item)
  local range = item.range or (item.location or {}).range
  return range and range.start.line or 0
end

---@param items table[] DocumentSymbol[] or SymbolInformation[], in any order
local function sort(items)
  for i = 2, #items do
    if row_of(items[i]) < row_of(items[i - 1]) then
      return table.sort(items, function(a, b)
        return row_of(a) < row_of(b)
      end)
    end
    task.breathe()
  end
end

---In a task: a generated file may have tens of thousands.
---@param items table[] DocumentSymbol[] or SymbolInformation[], in any order
---@param parents string[]
---@param list claude-code.DocumentSymbol[]
local function flatten(items, parents, list)
  sort(items)
  for _, item in ipairs(items) do
    task.breathe()
    local range = item.range or (item.location or {}).range
    if range then
      local name = item.selectionRange or range
      local above = parents
      if item.location and type(item.containerName) == "string" and item.containerName ~= "" then
        above = { item.containerName }
      end
      local bare, named = parts_of(tostring(item.name))
      list[#list + 1] = {
        name = tostring(item.name),
        kind = M.kind_name(item.kind),
        detail = type(item.detail) == "string" and item.detail ~= "" and item.detail or nil,
        depth = #above,
        row = name.start.line,
        character = name.start.character,
        first_row = range.start.line,
        last_row = range["end"].line,
        is_unnamed = not item.selectionRange or nil,
        parents = #above == 0 and named or above,
      }
      if type(item.children) == "table" then
        local below = vim.list_extend({}, parents)
        below[#below + 1] = bare
        flatten(item.children, below, list)
      end
    end
  end
end

---In a task: in the order of the file. Of several servers the one that knows the most.
---@param buf integer loaded
---@return claude-code.DocumentSymbol[]
---@return claude-code.ServerAnswer[]
function M.of(buf)
  local answers = request.all(servers.capable(buf, DOCUMENT), {
    method = DOCUMENT,
    params = { textDocument = { uri = vim.uri_from_bufnr(buf) } },
    buf = buf,
  })
  local most = {} ---@type claude-code.DocumentSymbol[]
  for _, answer in ipairs(answers) do
    local list = {} ---@type claude-code.DocumentSymbol[]
    if type(answer.result) == "table" then
      flatten(answer.result, {}, list)
    end
    most = #list > #most and list or most
  end
  return most, answers
end

---The symbol of a buffer whose name is at this place, in a task.
---@param buf integer loaded
---@param place claude-code.ServerPlace
---@return claude-code.DocumentSymbol?
function M.at(buf, place)
  local nearest, around ---@type claude-code.DocumentSymbol?, claude-code.DocumentSymbol?
  local rest = lines.at(buf, place.row):sub(position.occurrence(buf, place).col + 1)
  for _, symbol in ipairs((M.of(buf))) do
    local is_inside = symbol.first_row <= place.row and place.row <= symbol.last_row
    if symbol.row == place.row then
      if symbol.character == place.character then
        return symbol
      end
      nearest = nearest or symbol
    elseif symbol.is_unnamed and is_inside and vim.startswith(rest, M.bare(symbol.name)) then
      around = symbol
    end
  end
  return nearest or around
end

---@class claude-code.WorkspaceSymbol
---@field name string
---@field kind string
---@field container? string
---@field place claude-code.ServerPlace

---@param item table
---@param client vim.lsp.Client
---@return claude-code.WorkspaceSymbol?
local function symbol_of(item, client)
  local place = type(item.location) == "table" and position.place(item.location, client)
  if not place or type(item.name) ~= "string" then
    return nil
  end
  local _, parents = parts_of(item.name)
  local container = #parents > 0 and table.concat(parents, ".") or item.containerName
  return {
    name = item.name,
    kind = M.kind_name(item.kind),
    container = type(container) == "string" and container ~= "" and container or nil,
    place = place,
  }
end

---In a task: the symbols that servers find by a name, the exact ones apart.
---@param name string not empty: some servers would answer with all there are
---@return claude-code.WorkspaceSymbol[] exact
---@return claude-code.WorkspaceSymbol[] similar
---@return claude-code.ServerAnswer[]
---@return boolean is_settled
function M.find(name)
  local exact, similar, seen = {}, {}, {}
  local question = { method = WORKSPACE, params = { query = name } }
  local answers, is_settled = request.settled(servers.running(WORKSPACE), question)
  for _, answer in ipairs(answers) do
    local result = type(answer.result) == "table" and answer.result or {}
    for i = 1, math.min(#result, MAX_SYMBOLS) do
      local symbol = symbol_of(result[i], answer.client)
      local key = symbol and symbol.place.uri .. symbol.place.row
      if symbol and key and not seen[key] then
        seen[key] = true
        local is_exact = symbol.name == name or M.bare(symbol.name) == name
        table.insert(is_exact and exact or similar, symbol)
      end
      task.breathe()
    end
  end
  return exact, similar, answers, is_settled
end

return M
