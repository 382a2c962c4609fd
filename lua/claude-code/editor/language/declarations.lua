--- The symbols that a file declares, by its language servers, and those of the whole project as they index them.
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
---@field first_line integer of the whole declaration, from 1
---@field last_line integer

---@param kind integer SymbolKind (LSP 3.17)
---@return string
local function kind_name(kind)
  local name = vim.lsp.protocol.SymbolKind[kind]
  return type(name) == "string" and (name:gsub("(%l)(%u)", "%1 %2")):lower() or "symbol"
end

---A symbol's name as servers give it, in its parts: they add parameters, the package, a receiver
---(gopls: "(*Square).Area") or a whole head (rust-analyzer: "impl Shape for Square").
---@return string bare
---@return string[] parents that the name itself names
local function parts_of(name)
  name = name:match("^impl.*%sfor%s+(.+)") or name
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
---@return lsp.Range?
local function range_of(item)
  return item.range or (item.location or {}).range
end

---@param item table
---@return integer
local function row_of(item)
  local range = range_of(item)
  return range and range.start.line or 0
end

---@param items table[] DocumentSymbol[] or SymbolInformation[], in any order
---@param depth integer
---@param list claude-code.DocumentSymbol[]
local function flatten(items, depth, list)
  table.sort(items, function(a, b)
    return row_of(a) < row_of(b)
  end)
  for _, item in ipairs(items) do
    -- A generated file may have tens of thousands.
    task.breathe()
    local range = range_of(item)
    if range then
      list[#list + 1] = {
        name = tostring(item.name),
        kind = kind_name(item.kind),
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
end

---In a task, of several servers by the one that knows the most.
---@param buf integer loaded
---@return claude-code.DocumentSymbol[] in the order of the file
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
    flatten(type(answer.result) == "table" and answer.result or {}, 0, list)
    most = #list > #most and list or most
  end
  return most, answers
end

---@class claude-code.WorkspaceSymbol
---@field name string
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
  local container = parents[#parents] or item.containerName
  return { name = item.name, container = type(container) == "string" and container, place = place }
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
  local answers, is_settled = request.settled(request.of_all(servers.running(WORKSPACE), question))
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
