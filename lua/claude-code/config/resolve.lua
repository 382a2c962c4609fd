--- Checks what the user gave against the options. Knows no option by name.
local M = {}

---@class claude-code.Option
---@field key string dotted path in the options table: "binary.path"
---@field type claude-code.Type
---@field refused? any in effect when the user gave what is not valid; the default if left out
---@field description string for the help; the first sentence also for types.lua

---@class claude-code.Check
---@field options table<string, claude-code.Option> by their keys
---@field renamed table<string, string>
---@field resolved table has the defaults, and receives what is valid
---@field problems string[] receives a sentence for what is not valid

---@param state claude-code.Check
---@param key string "" is the whole table
---@param expected string
---@param value any
local function complain(state, key, expected, value)
  local got = type(value) == "function" and "a function"
    or vim.inspect(value, { newline = " ", indent = "" })
  local text = ("%sexpected %s, got %s"):format(key ~= "" and key .. ": " or "", expected, got)
  table.insert(state.problems, text)
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
  local names = vim.tbl_keys(state.options)
  for name in pairs(state.options) do
    table.insert(names, name:match("^(.*)%."))
  end
  table.sort(names)
  local meant = require("claude-code.messages.closest")(key, names, function(name)
    return #key > 3 and name:match("[^.]+$") == key:match("[^.]+$") and 1 or nil
  end)
  return ("%s: unknown option%s"):format(key, meant and ("; did you mean %s?"):format(meant) or "")
end

---@param state claude-code.Check
---@param option claude-code.Option
---@param value any
local function take(state, option, value)
  local accepted, problem = option.type.accepts(value)
  if not accepted then
    if problem then
      table.insert(state.problems, problem)
    else
      complain(state, option.key, option.type.expected, value)
    end
    value = option.refused
  end
  local path = vim.split(option.key, ".", { plain = true })
  local name = table.remove(path)
  local section = #path > 0 and vim.tbl_get(state.resolved, unpack(path)) or state.resolved
  section[name] = vim.F.if_nil(vim.deepcopy(value), section[name])
end

---@param state claude-code.Check
---@param given any
---@param defaults table of the same section
---@param prefix string "" for the whole table, "binary."
local function check(state, given, defaults, prefix)
  if type(given) ~= "table" then
    return complain(state, prefix:sub(1, -2), "a table of options", given)
  end
  local names = vim.tbl_keys(given)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local key, value = prefix .. tostring(name), given[name]
    if state.options[key] then
      take(state, state.options[key], value)
    elseif type(defaults[name]) == "table" then
      check(state, value, defaults[name], key .. ".")
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
  local options = {}
  for _, option in ipairs(require("claude-code.config.options")) do
    options[option.key] = option
  end
  local defaults = require("claude-code.config.defaults")
  local state =
    { options = options, renamed = renamed, resolved = vim.deepcopy(defaults), problems = {} }
  check(state, given, defaults, "")
  return state.resolved, state.problems
end

return M
