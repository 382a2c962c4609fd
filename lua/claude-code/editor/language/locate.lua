--- Finds the symbol that a question of Claude is about: in the file it names, else in the whole project.
local closest = require("claude-code.messages.closest")
local declarations = require("claude-code.editor.language.declarations")
local files = require("claude-code.editor.language.files")
local occurrences = require("claude-code.editor.language.occurrences")
local position = require("claude-code.editor.language.position")
local privacy = require("claude-code.editor.privacy")
local request = require("claude-code.editor.language.request")
local servers = require("claude-code.editor.language.servers")
local symbols = require("claude-code.editor.language.symbol")
local task = require("claude-code.lib.task")

---So many of the files in which the executable found the word are looked at.
local MOST_PLACES = 3
local MOST_LOOKED_UP = 10
---In characters. Half of a shorter name is part of most names.
local SHORTEST_MISSPELLED = 4

local M = {}

---@class claude-code.SymbolParams
---@field symbol string a name, or one with those around it: "Parser.parse"
---@field file? string[] the possible paths of a file in which it occurs
---@field named? string the first of them, as it was given
---@field line? integer 1-based, as on disk
---@field occurrences? { path: string, line: integer }[] where the word stands in the project
---@field changes? claude-code.ChangedFile[]

---@param params claude-code.SymbolParams
---@param name claude-code.SymbolName
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
local function in_named_file(params, name)
  local buf, failure = files.named(params)
  if not buf then
    return nil, failure
  end
  local row = params.line and position.row(buf, params.line)
  return symbols.in_file({ buf = buf, name = name, row = row })
end

---@param params claude-code.SymbolParams
---@param name claude-code.SymbolName
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
local function at_occurrences(params, name)
  local failure ---@type claude-code.Failure?
  for i = 1, math.min(MOST_PLACES, #(params.occurrences or {})) do
    local at = params.occurrences[i]
    local buf, problem = files.file({ at.path })
    if buf then
      local found = symbols.in_file({ buf = buf, name = name, row = at.line - 1 })
      if found and (found.candidates or #found.symbol.definitions > 0) then
        return found
      end
    end
    failure = failure or problem
  end
  return nil, failure
end

---@param list claude-code.WorkspaceSymbol[]
---@param test fun(symbol: claude-code.WorkspaceSymbol): boolean
---@return claude-code.WorkspaceSymbol[] those that pass; all if none does
local function preferred(list, test)
  local some = vim.tbl_filter(test, list)
  return #some > 0 and some or list
end

---@param exact claude-code.WorkspaceSymbol[]
---@param name claude-code.SymbolName
---@return claude-code.WorkspaceSymbol[] those of the project, in the named parents if any are
local function chosen(exact, name)
  local list = preferred(exact, function(symbol)
    return symbols.is_own(symbol.place.path)
  end)
  local parent = name.parents[#name.parents]
  return not parent and list
    or preferred(list, function(symbol)
      return symbol.container ~= nil and symbol.container:match("[^%.:#/]+$") == parent
    end)
end

---@param symbol claude-code.WorkspaceSymbol
---@return claude-code.Occurrence? of its name: some servers give the range of the whole declaration
local function occurrence_of(symbol, name)
  local place = symbol.place
  local buf = place.path and files.file({ place.path })
  local list = buf and occurrences.near(buf, name, place.row) or {}
  return vim.iter(list):find(function(at)
    return vim.deep_equal(at, position.occurrence(at.buf, place))
  end) or list[1]
end

---In a task: servers list a declaration, its definition and each overload, so they are asked which of
---them are one symbol.
---@param list claude-code.WorkspaceSymbol[]
---@param name claude-code.SymbolName
---@param answers claude-code.ServerAnswer[]
---@return claude-code.LocatedSymbol?
local function of_workspace_symbols(list, name, answers)
  if #list > MOST_LOOKED_UP then
    return { candidates = list, answers = answers }
  end
  local at = {} ---@type claude-code.Occurrence[]
  for _, symbol in ipairs(list) do
    at[#at + 1] = occurrence_of(symbol, name.last)
  end
  local groups, more = symbols.groups(at)
  local found = symbols.chosen(groups, name, more)
  if found and found.candidates then
    found.answers = answers
  end
  return found
end

---In a task: the name that was meant, of those that servers find by the halves of this one: where one is misspelled,
---the other mostly is not. Private files have none.
---@param similar claude-code.WorkspaceSymbol[] what servers found by all of it
---@return string?
local function nearest(name, similar)
  local length = vim.fn.strchars(name)
  local half = math.ceil(length / 2)
  local list = vim.list_slice(similar)
  for _, range in ipairs(length >= SHORTEST_MISSPELLED and { { 0, half }, { half, length } } or {}) do
    local exact, more = declarations.find(vim.fn.strcharpart(name, range[1], range[2]))
    vim.list_extend(vim.list_extend(list, exact), more)
  end
  local names = {} ---@type string[]
  for _, symbol in ipairs(list) do
    local bare, place = declarations.bare(symbol.name), symbol.place
    if bare ~= name and not privacy.is_private(place.path or place.uri) then
      names[#names + 1] = bare
    end
    task.breathe()
  end
  return closest(name, names)
end

---In a task.
---@param params claude-code.SymbolParams
---@param name string its last part
---@param similar claude-code.WorkspaceSymbol[]
---@param states claude-code.LanguageServerState[]
---@return claude-code.Failure
local function not_found(params, name, similar, states)
  local busy =
    request.not_ready(states, "%s may know `%s` later. Ask again in 10 s.", params.symbol)
  if busy then
    return busy
  end
  local meant = nearest(name, similar)
  local hint = meant and ("Did you mean `%s`? "):format(meant) or ""
  local text = "No symbol `%s` in the project. %sFor words in texts use Grep."
  return { code = "not_found", message = text:format(params.symbol, hint) }
end

---@param params claude-code.SymbolParams
---@param name claude-code.SymbolName
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
local function in_project(params, name)
  local failure ---@type claude-code.Failure?
  if #servers.running("workspace/symbol") == 0 then
    -- A file of the project makes its server start.
    local first = (params.occurrences or {})[1]
    failure = first and select(2, files.file({ first.path }))
  end
  local exact, similar, answers, settled = declarations.find(name.last)
  local list = chosen(exact, name)
  local found = #list > 0 and of_workspace_symbols(list, name, answers) or nil
  if found then
    return found
  end
  local by_word, problem = at_occurrences(params, name)
  if by_word then
    return by_word
  elseif #answers == 0 and (failure or problem) then
    return nil, failure or problem
  end
  local states = request.states(answers)
  if not settled and states[1] then
    states[1].state = states[1].state == "idle" and "starting" or states[1].state
  end
  return nil, not_found(params, name.last, similar, states)
end

---In a task, once buffers and servers have taken over what was written outside.
---@param params claude-code.SymbolParams
---@return claude-code.LocatedSymbol?
---@return claude-code.Failure?
function M.symbol(params)
  files.take_over(params.changes)
  local name = occurrences.parse(params.symbol)
  if params.file then
    return in_named_file(params, name)
  end
  return in_project(params, name)
end

return M
