--- The options in effect: checks those from setup(), and merges them over the defaults. It knows no option by name.
local M = {
  problems = {}, ---@type string[] a sentence for each option that the last setup() ignored
}

---@class claude-code.ConfigState
---@field known? { options: table<string, claude-code.Option>, defaults: claude-code.Config } options by key, as are
--- the fields of an option
---@field current? claude-code.Config
---@field given? claude-code.UserConfig
---@field listeners table<string, table<fun(value: any), true>>
local state = { listeners = {} }

---@class claude-code.Check
---@field options table<string, claude-code.Option> by key
---@field resolved table the defaults, over which valid values are put
---@field problems string[] a sentence for each invalid value

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
local function merge(check, given, section, prefix)
  if type(given) ~= "table" then
    return complain(check, prefix:sub(1, -2), "a table of options", given)
  end
  local names = vim.tbl_keys(given)
  table.sort(names, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, name in ipairs(names) do
    local key, value = prefix .. tostring(name), given[name]
    if check.options[key] then
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
  local list = table.concat(problems, "\n  ")
  require("claude-code.messages.notify").error(
    text:format(#problems, #problems == 1 and "" or "s", list)
  )
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
  local check = { options = options, resolved = vim.deepcopy(defaults), problems = {} }
  local old, given = state.current or defaults, state.given
  if given ~= nil then
    merge(check, given, check.resolved, "")
  end
  local new = check.resolved --[[@as claude-code.Config]]
  state.current, M.problems = new, check.problems
  if new.log.level ~= old.log.level then
    require("claude-code.messages.log").level = new.log.level
  end
  if #check.problems > 0 then
    report(check.problems)
  end
  notify(old, new)
end

--- Replaces all options. At startup it checks them once Neovim is idle, or when one is first needed.
---@param given? claude-code.UserConfig
function M.setup(given)
  state.given = given
  if state.current then
    check_given()
  else
    vim.schedule(M.get)
  end
end

--- The options in effect: the defaults until setup() is called.
---@return claude-code.Config
function M.get()
  if not state.current then
    check_given()
  end
  return state.current
end

---@param key string
---@return any value from the user, valid or not
function M.given(key)
  return vim.tbl_get(state.given or {}, unpack(vim.split(key, ".", { plain = true })))
end

--- Calls `callback` with the new value when setup() changes an option, or any option of a table ("selection").
--- Registering the same function again changes nothing.
---@param key string
---@param callback fun(value: any)
function M.on_change(key, callback)
  state.listeners[key] = state.listeners[key] or {}
  state.listeners[key][callback] = true
end

return M
