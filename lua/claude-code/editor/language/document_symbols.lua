--- The symbols that a file declares, by its language servers.
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")

local METHOD = "textDocument/documentSymbol"

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
---@field parents string[] names from the top

---@param kind integer SymbolKind (LSP 3.17)
---@return string
function M.kind_name(kind)
  local name = vim.lsp.protocol.SymbolKind[kind]
  return type(name) == "string" and (name:gsub("(%l)(%u)", "%1 %2")):lower() or "symbol"
end

---Some servers add parameters, and some the package.
---@param name string
---@return string
function M.bare(name)
  local bare = name:match("^[^%(<%s]+") or name
  return bare:match("[%.:#]([^%.:#]+)$") or bare
end

---@param item table DocumentSymbol or SymbolInformation
---@return integer row
local function row_of(item)
  local range = item.range or (item.location or {}).range
  return range and range.start.line or 0
end

---@param items table[] DocumentSymbol[] or SymbolInformation[], in any order
---@param parents string[]
---@param list claude-code.DocumentSymbol[]
local function flatten(items, parents, list)
  table.sort(items, function(a, b)
    return row_of(a) < row_of(b)
  end)
  for _, item in ipairs(items) do
    local range = item.range or (item.location or {}).range
    if range then
      local name = item.selectionRange or range
      local above = parents
      if item.location and type(item.containerName) == "string" and item.containerName ~= "" then
        above = { item.containerName }
      end
      list[#list + 1] = {
        name = tostring(item.name),
        kind = M.kind_name(item.kind),
        detail = type(item.detail) == "string" and item.detail ~= "" and item.detail or nil,
        depth = #above,
        row = name.start.line,
        character = name.start.character,
        first_row = range.start.line,
        last_row = range["end"].line,
        parents = above,
      }
      if type(item.children) == "table" then
        local below = vim.list_extend({}, parents)
        below[#below + 1] = M.bare(tostring(item.name))
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
  local answers = request.all(servers.capable(buf, METHOD), {
    method = METHOD,
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

---The symbol whose name is at this place.
---@param symbols claude-code.DocumentSymbol[]
---@param place claude-code.Place
---@return claude-code.DocumentSymbol?
function M.at(symbols, place)
  local nearest ---@type claude-code.DocumentSymbol?
  for _, symbol in ipairs(symbols) do
    if symbol.row == place.row then
      if symbol.character == place.character then
        return symbol
      end
      nearest = nearest or symbol
    end
  end
  return nearest
end

---The innermost symbol around a row.
---@param symbols claude-code.DocumentSymbol[]
---@param row integer
---@return claude-code.DocumentSymbol?
function M.around(symbols, row)
  local innermost ---@type claude-code.DocumentSymbol?
  for _, symbol in ipairs(symbols) do
    local is_inside = symbol.first_row <= row and row <= symbol.last_row
    if is_inside and (not innermost or symbol.depth >= innermost.depth) then
      innermost = symbol
    end
  end
  return innermost
end

---@param buf integer
---@param symbol claude-code.DocumentSymbol
---@param encoding string
---@return integer col byte
function M.column(buf, symbol, encoding)
  return position.to_byte(position.line(buf, symbol.row), symbol.character, encoding)
end

return M
