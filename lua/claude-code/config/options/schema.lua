--- Types of options: the values they accept, and their names in messages and for LuaLS.
local M = {}

---@class claude-code.Option
---@field key string dotted path in the options table: "binary.path"
---@field type claude-code.Type of the value, or of each field's
---@field default? any
---@field refused? any replaces an invalid value; the default if left out
---@field description string for the help; the first sentence also for types.lua
---@field fields? claude-code.OptionField[] of an option that is a table; the user may set any of them

---@class claude-code.OptionField
---@field [1] string name
---@field [2] any default
---@field [3] string effect of the key, for the help

---@class claude-code.Type
---@field expected string in a message: "a boolean", "one of …"
---@field lua string for LuaLS: "boolean", '"a"|"b"'
---@field accepts fun(value: any): boolean, string? with a problem that the type alone does not name

---@param rest string[]|{ refused?: any, fields?: claude-code.OptionField[] } a list of the description's lines
function M.option(key, type, default, rest)
  local option =
    { key = key, type = type, default = default, description = table.concat(rest, " ") }
  option.refused, option.fields = rest.refused, rest.fields
  return option
end

---@param name type
local function primitive(name, expected)
  return {
    expected = expected,
    lua = name,
    accepts = function(value)
      return type(value) == name
    end,
  }
end

M.boolean = primitive("boolean", "a boolean")
M.string = primitive("string", "a string")

---@param signature string for LuaLS
function M.func(signature)
  return vim.tbl_extend("force", primitive("function", "a function"), { lua = signature })
end

---@param ... string|boolean
function M.one_of(...)
  local choices = { ... }
  local quoted = vim.tbl_map(function(choice)
    return type(choice) == "string" and ('"%s"'):format(choice) or tostring(choice)
  end, choices)
  return {
    expected = #quoted == 1 and quoted[1] or "one of " .. table.concat(quoted, ", "),
    lua = table.concat(quoted, "|"),
    accepts = function(value)
      return vim.tbl_contains(choices, value)
    end,
  }
end

function M.number(lowest, highest)
  return {
    expected = ("a number from %s to %s"):format(lowest, highest),
    lua = "number",
    accepts = function(value)
      return type(value) == "number" and value >= lowest and value <= highest
    end,
  }
end

function M.integer(lowest, highest)
  local number = M.number(lowest, highest)
  return {
    expected = ("a whole number from %d to %d"):format(lowest, highest),
    lua = "integer",
    accepts = function(value)
      return number.accepts(value) and value == math.floor(value)
    end,
  }
end

function M.list_of(item)
  return {
    expected = "a list, each item " .. item.expected,
    lua = (item.lua:find("|") and "(%s)[]" or "%s[]"):format(item.lua),
    accepts = function(value)
      return vim.islist(value) and vim.iter(value):all(item.accepts)
    end,
  }
end

---@param field "expected"|"lua"
local function join(types, field, separator)
  local words = vim.tbl_map(function(type)
    return type[field]
  end, types)
  return table.concat(words, separator)
end

---@param ... claude-code.Type
function M.any_of(...)
  local types = { ... }
  return {
    expected = join(types, "expected", " or "),
    lua = join(types, "lua", "|"),
    accepts = function(value)
      return vim.iter(types):any(function(type)
        return (type.accepts(value))
      end)
    end,
  }
end

M.keys = M.any_of(M.string, M.list_of(M.string), M.one_of(false))
M.keys.expected = "a key, a list of keys, or false"

return M
