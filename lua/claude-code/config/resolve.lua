--- Checks what the user gave against the options. Knows no option by name.
local M = {}

---@class claude-code.Options
---@field all fun(): claude-code.Option[]
---@field of fun(parts: any[]): claude-code.Option[] those whose keys begin with one of these parts

---@class claude-code.Option
---@field key string dotted path in the options table: "binary.path"
---@field type claude-code.Type
---@field default any nil where there is none
---@field refused? any in effect when the user gave what is not valid; the default if left out
---@field description string for the help; the first sentence also for types.lua

---@param value any
---@return string
local function describe(value)
  if type(value) == "string" then
    return ('"%s"'):format(value)
  elseif type(value) == "table" then
    return (vim.inspect(value, { newline = " ", indent = "" }))
  elseif type(value) == "function" then
    return "a function"
  end
  return tostring(value)
end

--- The known key that the user most likely meant: one that is spelled almost like it, or the same
--- name in another table.
---@param unknown string
---@param known string[]
---@return string?
local function closest(unknown, known)
  return require("claude-code.messages.closest")(unknown, known, function(key)
    return #unknown > 3 and key:match("[^.]+$") == unknown:match("[^.]+$") and 1 or nil
  end)
end

---@class claude-code.SchemaIndex
---@field options table<string, claude-code.Option>
---@field sections table<string, string[]> dotted path of a group → the names in it

---@param options claude-code.Option[]
---@return claude-code.SchemaIndex
local function index(options)
  local result = { options = {}, sections = {} }
  for _, option in ipairs(options) do
    result.options[option.key] = option
    local section, name = option.key:match("^(.*)%.([^.]+)$")
    if section then
      result.sections[section] = result.sections[section] or {}
      table.insert(result.sections[section], name)
    end
  end
  return result
end

---@param value any
---@return any
local function copy(value)
  return type(value) == "table" and vim.deepcopy(value) or value
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

---@param options claude-code.Options
---@param renamed table<string, string>
---@param key string unknown
---@return string
local function unknown_option(options, renamed, key)
  local instead = renamed[key]
  if instead then
    return (instead:find(" ") and "%s: %s" or "%s: renamed to %s"):format(key, instead)
  end
  local known = index(options.all())
  local names = vim.list_extend(vim.tbl_keys(known.options), vim.tbl_keys(known.sections))
  table.sort(names)
  local meant = closest(key, names)
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

---@class claude-code.Check
---@field known claude-code.SchemaIndex
---@field unknown fun(key: string): string what is wrong with a key that is not known
---@field resolved table receives what is valid
---@field problems string[] receives a sentence for what is not

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
    assign(state.resolved, option.key, copy(value))
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
    local option, section = state.known.options[key], state.known.sections[key]
    if option then
      take(state, option, value)
    elseif section and type(value) == "table" then
      check(state, value, key .. ".")
    elseif section then
      local text = "%s: expected a table { %s }, got %s"
      local problem = text:format(key, table.concat(section, ", "), describe(value))
      table.insert(state.problems, problem)
    else
      table.insert(state.problems, state.unknown(key))
    end
  end
end

--- Merges what the user gave over the defaults.
---@param options claude-code.Options
---@param given any
---@param renamed? table<string, string> old names: the new name, or a sentence
---@return table resolved every option present; an invalid one has its default, or what `refused` says
---@return string[] problems one sentence per option that cannot be used
function M.resolve(options, given, renamed)
  local resolved = vim.deepcopy(require("claude-code.config.defaults").values)
  local problems = {}
  if type(given) == "table" then
    check({
      known = index(options.of(vim.tbl_keys(given))),
      unknown = function(key)
        return unknown_option(options, renamed or {}, key)
      end,
      resolved = resolved,
      problems = problems,
    }, given, "")
  else
    table.insert(problems, ("expected a table of options, got %s"):format(describe(given)))
  end
  return resolved, problems
end

return M
