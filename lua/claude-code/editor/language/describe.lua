--- What a symbol is: its declaration with kind, source and documentation.
local api = vim.api
local document_symbols = require("claude-code.editor.language.document_symbols")
local open = require("claude-code.editor.language.open")
local position = require("claude-code.editor.language.position")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local symbols = require("claude-code.editor.language.symbol")

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
    if vim.trim(text) ~= "" then
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

---In a task: the declaration at a place, if its file is one of the project.
---@param place claude-code.Place
---@param with_body boolean
---@return claude-code.Declaration
function M.declaration(place, with_body)
  local is_own = place.path and not symbols.is_dependency(place.path)
  local buf = is_own and open.file({ place.path }) or nil
  local declared = buf and document_symbols.at(document_symbols.of(buf), place)
  if not buf or not declared then
    return {}
  end
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

return M
