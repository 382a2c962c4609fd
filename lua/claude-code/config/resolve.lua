--- Checks what the user gave against the options. Knows no option by name.
local M = {}

---@class claude-code.Option
---@field key string dotted path in the options table: "binary.path"
---@field type claude-code.Type
---@field refused? any in effect when the user gave what is not valid; the default if left out
---@field description string for the help; the first sentence also for types.lua

---@param value any
---@return string
local function describe(value)
  return type(value) == "function" and "a function"
    or vim.inspect(value, { newline = " ", indent = "" })
end

---@class claude-code.Check
---@field options table<string, claude-code.Option> by their keys
---@field sections table<string, string[]> dotted path of a group → the names in it
---@field renamed table<string, string>
---@field resolved table receives what is valid
---@field problems string[] receives a sentence for what is not

---@param renamed table<string, string>
---@return claude-code.Check
local function new_check(renamed)
  local resolved = vim.deepcopy(require("claude-code.config.defaults"))
  local result =
    { options = {}, sections = {}, renamed = renamed, resolved = resolved, problems = {} }
  for _, option in ipairs(require("claude-code.config.options")) do
    result.options[option.key] = option
    local section, name = option.key:match("^(.*)%.([^.]+)$")
    if section then
      result.sections[section] = result.sections[section] or {}
      table.insert(result.sections[section], name)
    end
  end
  return result
end

---@param target table
---@param key string
---@param value any
local function assign(target, key, value)
  local path, name = key:match("^(.-)([^.]+)$")
  for part in path:gmatch("[^.]+") do
    target[part] = target[part] or {}
    target = target[part]
  end
  target[name] = value
end

--- Names the key that the user most likely meant: one that is spelled almost like it, or the same name in
--- another table.
---@param state claude-code.Check
---@param key string unknown
---@return string problem
local function unknown_option(state, key)
  local instead = state.renamed[key]
  if instead then
    return (instead:find(" ") and "%s: %s" or "%s: renamed to %s"):format(key, instead)
  end
  local names = vim.list_extend(vim.tbl_keys(state.options), vim.tbl_keys(state.sections))
  table.sort(names)
  local meant = require("claude-code.messages.closest")(key, names, function(name)
    return #key > 3 and name:match("[^.]+$") == key:match("[^.]+$") and 1 or nil
  end)
  return ("%s: unknown option%s"):format(key, meant and ("; did you mean %s?"):format(meant) or "")
end

---@param option claude-code.Option
---@param value any
---@return string? problem
local function problem_with(option, value)
  if option.type.accepts(value) then
    return
  end
  local why = option.type.explain and option.type.explain(value)
  local text = why and "%s: expected %s; %s" or "%s: expected %s, got %s"
  return text:format(option.key, option.type.expected, why or describe(value))
end

---@param state claude-code.Check
---@param option claude-code.Option
---@param value any
local function take(state, option, value)
  local problem = problem_with(option, value)
  if problem then
    table.insert(state.problems, problem)
    value = option.refused
  end
  if value ~= nil then
    assign(state.resolved, option.key, vim.deepcopy(value))
  end
end

---@param state claude-code.Check
---@param given table
---@param prefix string
local function check(state, given, prefix)
  local names = vim.tbl_keys(given)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local key, value = prefix .. tostring(name), given[name]
    local option, section = state.options[key], state.sections[key]
    if option then
      take(state, option, value)
    elseif section and type(value) == "table" then
      check(state, value, key .. ".")
    elseif section then
      local text = "%s: expected a table { %s }, got %s"
      local problem = text:format(key, table.concat(section, ", "), describe(value))
      table.insert(state.problems, problem)
    else
      table.insert(state.problems, unknown_option(state, key))
    end
  end
end

--- Merges what the user gave over the defaults.
---@param given any
---@param renamed table<string, string> old names: the new name, or a sentence
---@return table resolved every option present; an invalid one has its default, or what `refused` says
---@return string[] problems one sentence per option that cannot be used
function M.resolve(given, renamed)
  local state = new_check(renamed)
  if type(given) == "table" then
    check(state, given, "")
  else
    table.insert(state.problems, ("expected a table of options, got %s"):format(describe(given)))
  end
  return state.resolved, state.problems
end

return M
