--- The options in effect: the defaults, and the valid options from setup(). This module knows no option by name.
local M = {
  problems = {}, ---@type string[] a sentence for each option that the last setup() ignored
}

---@class claude-code.ConfigState
---@field known? { options: table<string, claude-code.Option>, defaults: claude-code.Config } options and their fields,
--- by key
---@field current? claude-code.Config
---@field user? claude-code.UserConfig
---@field listeners table<string, table<fun(value: any), true>>
local state = { listeners = {} }

---@class claude-code.Check
---@field options table<string, claude-code.Option> by key
---@field given table<string, any> the user's values, valid or not, by key
---@field resolved table the defaults, and the valid values
---@field problems string[] a sentence for each invalid value

local given = {} ---@type table<string, any> of the last check

--- The source of checks, defaults, the help and types.lua. It takes half a millisecond to load. After a change run
--- `bun run docs`.
---@return claude-code.Option[]
function M.options()
  local options = {}
  for _, file in ipairs({ "server", "terminal", "claude", "changes" }) do
    vim.list_extend(options, require("claude-code.config.options." .. file))
  end
  return options
end

---@param key string dotted path
local function put(tree, key, value)
  for section in key:gmatch("([^.]+)%.") do
    tree[section] = tree[section] or {}
    tree = tree[section]
  end
  tree[key:match("[^.]+$")] = value
end

local function known()
  if state.known then
    return state.known
  end
  local found = { options = {}, defaults = {} }
  for _, option in ipairs(M.options()) do
    if not option.fields then
      found.options[option.key] = option
      put(found.defaults, option.key, option.default)
    end
    for _, field in ipairs(option.fields or {}) do
      local key = option.key .. "." .. field[1]
      found.options[key] = { key = key, type = option.type }
      put(found.defaults, key, field[2])
    end
  end
  state.known = found
  return found
end

---@param key string "" for the whole table
local function complain(check, key, expected, value)
  local got = type(value) == "function" and "a function"
    or vim.inspect(value, { newline = " ", indent = "" })
  local text = ("%sexpected %s, got %s"):format(key ~= "" and key .. ": " or "", expected, got)
  table.insert(check.problems, text)
end

local function unknown_option(check, key)
  local meant = vim.fn.matchfuzzy(vim.tbl_keys(check.options), key)[1]
  return ("%s: unknown option%s"):format(key, meant and ("; did you mean %s?"):format(meant) or "")
end

local function take(check, option, value)
  local is_accepted, problem = option.type.accepts(value)
  if is_accepted then
    return put(check.resolved, option.key, vim.deepcopy(value))
  elseif problem then
    table.insert(check.problems, problem)
  else
    complain(check, option.key, option.type.expected, value)
  end
  if option.refused ~= nil then
    put(check.resolved, option.key, option.refused)
  end
end

---@param section table of the resolved options
---@param prefix string "" for the whole table, "binary."
local function merge(check, user, section, prefix)
  if type(user) ~= "table" then
    return complain(check, prefix:sub(1, -2), "a table of options", user)
  end
  local names = vim.tbl_keys(user)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local key, value = prefix .. tostring(name), user[name]
    if check.options[key] then
      check.given[key] = value
      take(check, check.options[key], value)
    elseif type(section[name]) == "table" then
      merge(check, value, section[name], key .. ".")
    else
      table.insert(check.problems, unknown_option(check, key))
    end
  end
end

local function report(problems)
  local text =
    "%d option%s cannot be used:\n  %s\nThe others are in effect; see :help claude-code-options"
  text = text:format(#problems, #problems == 1 and "" or "s", table.concat(problems, "\n  "))
  require("claude-code.messages.notify").error(text)
end

local function notify(old, new)
  for key, callbacks in pairs(state.listeners) do
    local path = vim.split(key, ".", { plain = true })
    local value = vim.tbl_get(new, unpack(path))
    if not vim.deep_equal(vim.tbl_get(old, unpack(path)), value) then
      for _, callback in ipairs(vim.tbl_keys(callbacks)) do
        callback(value)
      end
    end
  end
end

---Checks the user's options, and reports invalid ones in one message.
local function check_given()
  local options, defaults = known().options, known().defaults
  local check = { options = options, given = {}, resolved = vim.deepcopy(defaults), problems = {} }
  local old = state.current or defaults
  if state.user ~= nil then
    merge(check, state.user, check.resolved, "")
  end
  local new = check.resolved --[[@as claude-code.Config]]
  state.current, given, M.problems = new, check.given, check.problems
  if new.log.level ~= old.log.level then
    require("claude-code.messages.log").level = new.log.level
  end
  if #check.problems > 0 then
    report(check.problems)
  end
  notify(old, new)
end

--- Replaces all options. At startup it checks them once Neovim is idle, or when one is first needed.
---@param user? claude-code.UserConfig
function M.setup(user)
  state.user = user
  if state.current then
    check_given()
  else
    vim.schedule(M.get)
  end
end

---@return claude-code.Config options in effect; the defaults before setup()
function M.get()
  if not state.current then
    check_given()
  end
  return state.current
end

---@return any value from the user, valid or not
function M.given(key)
  M.get()
  return given[key]
end

--- Calls back when setup() changes an option, or any option of a table ("selection"). Registering the same function
--- again changes nothing.
function M.on_change(key, callback)
  state.listeners[key] = state.listeners[key] or {}
  state.listeners[key][callback] = true
end

return M
