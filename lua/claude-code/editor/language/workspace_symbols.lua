--- Symbols of the whole project by their name, as the language servers index them.
local document_symbols = require("claude-code.editor.language.document_symbols")
local position = require("claude-code.editor.language.position")
local ready = require("claude-code.editor.language.ready")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.editor.language.task")

local METHOD = "workspace/symbol"
---Of a short name a server may know thousands.
local MOST = 5000

local M = {}

---@class claude-code.WorkspaceSymbol
---@field name string
---@field kind string
---@field container? string
---@field place claude-code.Place

---@param item table
---@param client vim.lsp.Client
---@return claude-code.WorkspaceSymbol?
local function symbol_of(item, client)
  local place = type(item.location) == "table" and position.place(item.location, client)
  if not place or type(item.name) ~= "string" then
    return nil
  end
  local _, parents = document_symbols.parts(item.name)
  local container = #parents > 0 and table.concat(parents, ".") or item.containerName
  return {
    name = item.name,
    kind = document_symbols.kind_name(item.kind),
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
  local question = { method = METHOD, params = { query = name } }
  local answers, is_settled = ready.ask(servers.running(METHOD), question)
  for _, answer in ipairs(answers) do
    local result = type(answer.result) == "table" and answer.result or {}
    for i = 1, math.min(#result, MOST) do
      local symbol = symbol_of(result[i], answer.client)
      local key = symbol and symbol.place.uri .. symbol.place.row
      if symbol and key and not seen[key] then
        seen[key] = true
        local is_exact = symbol.name == name or document_symbols.bare(symbol.name) == name
        table.insert(is_exact and exact or similar, symbol)
      end
      task.breathe()
    end
  end
  return exact, similar, answers, is_settled
end

return M
