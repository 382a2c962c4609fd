--- The enclosing function by the document symbols of a language server. They are asked for in the
--- background; what is known of the buffer as it is now is the answer.
local METHOD = "textDocument/documentSymbol"
local KINDS =
  { "Class", "Constructor", "Function", "Interface", "Method", "Module", "Namespace", "Struct" }

---@class claude-code.Symbols
---@field tick integer changedtick they were asked for at
---@field list? lsp.DocumentSymbol[] nil while the answer is awaited

local M = {}

---@type table<integer, claude-code.Symbols>
local known = {}

---@param buf integer
---@return vim.lsp.Client?
local function client_of(buf)
  return vim.lsp.get_clients({ bufnr = buf, method = METHOD })[1]
end

---@param client vim.lsp.Client
---@param buf integer
---@param entry claude-code.Symbols
local function ask(client, buf, entry)
  local params = { textDocument = vim.lsp.util.make_text_document_params(buf) }
  local function answered(failure, result)
    entry.list = not failure and result or {}
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:request(METHOD, params, answered, buf)
  else
    client.request(METHOD, params, answered, buf) ---@diagnostic disable-line
  end
end

---@param symbols lsp.DocumentSymbol[]|lsp.SymbolInformation[]
---@param lnum integer 0-based
---@param names string[] outermost first; added to
local function descend(symbols, lnum, names)
  for _, symbol in ipairs(symbols) do
    local range = symbol.range or symbol.location.range
    if range.start.line <= lnum and lnum <= range["end"].line then
      if vim.tbl_contains(KINDS, vim.lsp.protocol.SymbolKind[symbol.kind]) then
        names[#names + 1] = symbol.name
      end
      descend(symbol.children or {}, lnum, names)
    end
  end
end

---@param buf integer
---@param lnum integer 0-based
---@return boolean known
---@return string? name
---@return true? pending
function M.name(buf, lnum)
  local client = client_of(buf)
  if not client then
    known[buf] = nil
    return false
  end
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local entry = known[buf]
  if not entry or entry.tick ~= tick then
    entry = { tick = tick }
    known[buf] = entry
    ask(client, buf, entry)
  end
  if not entry.list then
    return false, nil, true
  end
  local names = {}
  descend(entry.list, lnum, names)
  return true, #names > 0 and table.concat(names, ".") or nil
end

return M
