--- The symbol that Claude means: by its name, with a file and a line if Claude knows one, never by a
--- column. Any occurrence will do; that several of them are the same symbol, the language servers say.
local document_symbols = require("claude-code.editor.language.document_symbols")
local occurrences = require("claude-code.editor.language.occurrences")
local ready = require("claude-code.editor.language.ready")
local servers = require("claude-code.editor.language.servers")
local symbol_groups = require("claude-code.editor.language.symbol_groups")

local M = {}

---@class claude-code.Symbol
---@field name string
---@field buf integer where servers are asked
---@field row integer 0-based, of an occurrence
---@field col integer 0-based byte
---@field definitions claude-code.Place[] at least one, unless the servers know no definitions
---@field answers claude-code.ServerAnswer[]

---@class claude-code.SymbolQuestion
---@field buf integer
---@field name claude-code.SymbolName
---@field row? integer 0-based

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

---In a task.
---@param groups claude-code.SymbolGroup[]
---@param parents string[]
---@return claude-code.SymbolGroup[] those with these parents; all if none has
function M.with_parents(groups, parents)
  if #groups > 1 or #parents > 0 then
    for _, entry in ipairs(groups) do
      entry.declared = entry.places[1] and symbol_groups.declared_at(entry.places[1])
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
  local clients = servers.capable(question.buf, symbol_groups.METHOD)
  local groups, answers = ready.retry_empty(clients, function()
    return symbol_groups.of(list)
  end)
  local failure = #groups == 0 and ready.failure_of(answers)
  if failure then
    return nil, failure
  end
  groups = declared_on(groups, question)
  groups = #groups > 1 and symbol_groups.merged(groups) or groups
  groups = M.with_parents(groups, question.name.parents)
  if #groups > 1 then
    return nil, nil, groups, answers
  end
  local only = groups[1] or { occurrence = list[1], places = {} }
  return M.of_group(only, question.name.last, answers), nil, nil, answers
end

---@param entry claude-code.SymbolGroup
---@param name string
---@param answers claude-code.ServerAnswer[]
---@return claude-code.Symbol
function M.of_group(entry, name, answers)
  local at = entry.occurrence
  return {
    name = name,
    buf = at.buf,
    row = at.row,
    col = at.col,
    definitions = entry.places,
    answers = answers,
  }
end

return M
