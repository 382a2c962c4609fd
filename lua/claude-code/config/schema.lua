--- Checks a table of options against a list of descriptions. Knows no option by name:
--- those stand in config.lua.
local M = {}

---@class claude-code.Type
---@field expected string how a message names it: "a boolean", "one of …"
---@field accepts fun(value: any): boolean
---@field explain? fun(value: any): string? why a value is not accepted, where that is not plain

---@class claude-code.Option
---@field key string dotted path in the options table: "binary.path"
---@field type claude-code.Type
---@field default any nil where there is none
---@field description string one sentence, for the documentation

---@param name type
---@param expected string
---@return claude-code.Type
local function primitive(name, expected)
  return {
    expected = expected,
    accepts = function(value)
      return type(value) == name
    end,
  }
end

M.boolean = primitive("boolean", "a boolean")
M.string = primitive("string", "a string")
M.func = primitive("function", "a function")

---@param ... string|boolean
---@return claude-code.Type
function M.one_of(...)
  local choices = { ... }
  local quoted = vim.tbl_map(function(choice)
    return type(choice) == "string" and ('"%s"'):format(choice) or tostring(choice)
  end, choices)
  return {
    expected = #quoted == 1 and quoted[1] or "one of " .. table.concat(quoted, ", "),
    accepts = function(value)
      return vim.tbl_contains(choices, value)
    end,
  }
end

---@param lowest integer
---@param highest integer
---@return claude-code.Type
function M.integer(lowest, highest)
  return {
    expected = ("a whole number from %d to %d"):format(lowest, highest),
    accepts = function(value)
      return type(value) == "number"
        and value == math.floor(value)
        and value >= lowest
        and value <= highest
    end,
  }
end

---@param lowest number
---@param highest number
---@return claude-code.Type
function M.number(lowest, highest)
  return {
    expected = ("a number from %s to %s"):format(lowest, highest),
    accepts = function(value)
      return type(value) == "number" and value >= lowest and value <= highest
    end,
  }
end

---@param item claude-code.Type
---@return claude-code.Type
function M.list_of(item)
  return {
    expected = "a list, each item " .. item.expected,
    accepts = function(value)
      return vim.islist(value) and vim.iter(value):all(item.accepts)
    end,
  }
end

--- A table with these functions, and perhaps some of the optional ones.
---@param required string[]
---@param optional string[]
---@return claude-code.Type
function M.table_of_functions(required, optional)
  local function explain(value)
    for _, name in ipairs(type(value) == "table" and required or {}) do
      if type(value[name]) ~= "function" then
        return ("its function %s is missing"):format(name)
      end
    end
    for _, name in ipairs(type(value) == "table" and optional or {}) do
      if value[name] ~= nil and type(value[name]) ~= "function" then
        return ("%s is not a function"):format(name)
      end
    end
  end
  return {
    expected = "a table with the functions " .. table.concat(required, ", "),
    accepts = function(value)
      return type(value) == "table" and not explain(value)
    end,
    explain = explain,
  }
end

---@param ... claude-code.Type
---@return claude-code.Type
function M.any_of(...)
  local types = { ... }
  return {
    expected = table.concat(
      vim.tbl_map(function(t)
        return t.expected
      end, types),
      " or "
    ),
    accepts = function(value)
      return vim.iter(types):any(function(t)
        return t.accepts(value)
      end)
    end,
    explain = function(value)
      return vim
        .iter(types)
        :map(function(t)
          return t.explain and t.explain(value)
        end)
        :next()
    end,
  }
end

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

--- The number of single-character edits between two words (Levenshtein).
---@param a string
---@param b string
---@return integer
local function distance(a, b)
  local previous = {}
  for j = 0, #b do
    previous[j] = j
  end
  for i = 1, #a do
    local current = { [0] = i }
    for j = 1, #b do
      local substitution = previous[j - 1] + (a:byte(i) == b:byte(j) and 0 or 1)
      current[j] = math.min(previous[j] + 1, current[j - 1] + 1, substitution)
    end
    previous = current
  end
  return previous[#b]
end

---@param key string
---@return string table with the dot behind it, or ""
---@return string name
local function parts(key)
  local name = key:match("[^.]+$") or key
  return key:sub(1, #key - #name), name
end

--- How far a name is from what was written.
---@param written string
---@param name string
---@return number? distance nil if too far for a mistyped one
local function likeness(written, name)
  if written == name then
    return 0
  end
  local shorter = math.min(#written, #name)
  if shorter >= 3 and written:sub(1, shorter) == name:sub(1, shorter) then
    return 0.5
  end
  local d = distance(written, name)
  return d <= math.max(1, math.floor(shorter / 3)) and d or nil
end

--- The known key that the user most likely meant: a near miss in the same table, or else the right
--- name, or nearly, in another one.
---@param unknown string
---@param known string[]
---@return string?
local function closest(unknown, known)
  local place, written = parts(unknown)
  local best, best_distance
  for _, key in ipairs(known) do
    local there, name = parts(key)
    local d = likeness(written, name)
    -- Two letters are in many names.
    if d and there ~= place then
      d = #written > 3 and d + 10 or nil
    end
    if d and (not best or d < best_distance) then
      best, best_distance = key, d
    end
  end
  return best
end

---@class claude-code.SchemaIndex
---@field options table<string, claude-code.Option>
---@field sections table<string, string[]> dotted path of a group → the names in it
---@field names string[]

---@param options claude-code.Option[]
---@return claude-code.SchemaIndex
local function index(options)
  local result = { options = {}, sections = {}, names = {} }
  for _, option in ipairs(options) do
    result.options[option.key] = option
    table.insert(result.names, option.key)
    local section, name = option.key:match("^(.*)%.([^.]+)$")
    if section then
      result.sections[section] = result.sections[section] or {}
      table.insert(result.sections[section], name)
    end
  end
  vim.list_extend(result.names, vim.tbl_keys(result.sections))
  table.sort(result.names)
  return result
end

---@param target table
---@param key string
---@param value any
local function assign(target, key, value)
  local path = vim.split(key, ".", { plain = true })
  for i = 1, #path - 1 do
    target[path[i]] = target[path[i]] or {}
    target = target[path[i]]
  end
  target[path[#path]] = value
end

---@param known claude-code.SchemaIndex
---@param given table
---@param prefix string
---@param resolved table receives what is valid
---@param problems string[] receives a sentence for what is not
local function check(known, given, prefix, resolved, problems)
  local names = vim.tbl_keys(given)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local key, value = prefix .. tostring(name), given[name]
    local option, section = known.options[key], known.sections[key]
    if option then
      if option.type.accepts(value) then
        assign(resolved, key, vim.deepcopy(value))
      else
        local why = option.type.explain and option.type.explain(value)
        local text = why and "%s: expected %s; %s" or "%s: expected %s, got %s"
        table.insert(problems, text:format(key, option.type.expected, why or describe(value)))
      end
    elseif section and type(value) == "table" then
      check(known, value, key .. ".", resolved, problems)
    elseif section then
      local text = "%s: expected a table { %s }, got %s"
      table.insert(problems, text:format(key, table.concat(section, ", "), describe(value)))
    else
      local meant = closest(key, known.names)
      local hint = meant and ("; did you mean %s?"):format(meant) or ""
      table.insert(problems, ("%s: unknown option%s"):format(key, hint))
    end
  end
end

--- Merges what the user gave over the defaults.
---@param options claude-code.Option[]
---@param given any
---@return table resolved every option present; an invalid one has its default
---@return string[] problems one sentence per option that could not be used
function M.resolve(options, given)
  local resolved, problems = {}, {}
  for _, option in ipairs(options) do
    assign(resolved, option.key, vim.deepcopy(option.default))
  end
  if type(given) == "table" then
    check(index(options), given, "", resolved, problems)
  elseif given ~= nil then
    table.insert(problems, ("expected a table of options, got %s"):format(describe(given)))
  end
  return resolved, problems
end

return M
