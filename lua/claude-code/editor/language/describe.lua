--- What a symbol is: its declaration with kind, source and documentation.
local api = vim.api
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local symbol_groups = require("claude-code.editor.language.symbol_groups")

local HOVER = "textDocument/hover"
local MOST_HOVER = 8000
local MOST_BODY = 120

local M = {}

---@param contents any MarkupContent, MarkedString or MarkedString[] (LSP 3.17)
---@return string markdown
local function markdown(contents)
  if type(contents) == "string" then
    return contents
  elseif type(contents) ~= "table" then
    return ""
  elseif contents.language then
    return ("```%s\n%s\n```"):format(contents.language, contents.value)
  elseif contents.value then
    local is_code = contents.kind == "plaintext"
    return is_code and "```\n" .. contents.value .. "\n```" or contents.value
  end
  return table.concat(vim.tbl_map(markdown, contents), "\n\n")
end

---In a task: what servers show about the symbol, in Markdown.
---@param symbol claude-code.Symbol
---@return string?
function M.hover(symbol)
  local clients = servers.capable(symbol.buf, HOVER)
  local answers = request.all(clients, {
    method = HOVER,
    buf = symbol.buf,
    params = function(client)
      return position.params(client, symbol.buf, symbol.row, symbol.col)
    end,
  })
  for _, answer in ipairs(answers) do
    local text = answer.result and markdown(answer.result.contents) or ""
    if text:find("%S") then
      return text:sub(1, MOST_HOVER)
    end
  end
end

---@class claude-code.Declaration
---@field kind? string
---@field parents? string[]
---@field last_line? integer 1-based, as in the buffer
---@field first_line? integer
---@field body? string[]
---@field more? integer lines of the body that are left out

---@param declared claude-code.DocumentSymbol
---@param buf integer
---@param with_body boolean
---@return claude-code.Declaration
local function declaration_of(declared, buf, with_body)
  local result = {
    kind = declared.kind,
    parents = declared.parents,
    first_line = declared.first_row + 1,
    last_line = declared.last_row + 1,
  }
  if with_body then
    local last = math.min(declared.last_row, declared.first_row + MOST_BODY - 1)
    result.body = api.nvim_buf_get_lines(buf, declared.first_row, last + 1, false)
    result.more = declared.last_row - last
  end
  return result
end

---In a task: where the symbol is defined, and the declaration at the first of these places, if its file
---is one of the project. clangd leads from a definition to its prototype: the longer one counts.
---@param symbol claude-code.Symbol with one definition at least
---@param with_body boolean
---@return claude-code.Place[]
---@return claude-code.Declaration
function M.definitions(symbol, with_body)
  local places = symbol.definitions
  local declared, buf = symbol_groups.declared_at(places[1])
  if declared and declared.first_row == declared.last_row then
    local own = position.own_place(symbol.buf, symbol.row, symbol.col, places[1].encoding)
    local other, other_buf = symbol_groups.declared_at(own)
    local is_name = other and other.row == own.row and other.character == own.character
    if is_name and other.last_row > other.first_row then
      declared, buf = other, other_buf
      places = symbol_groups.distinct(vim.list_extend({ own }, places))
    end
  end
  return places, declared and buf and declaration_of(declared, buf, with_body) or {}
end

return M
