--- The options that belong to a window, read and set for that window only.
local api = vim.api

local M = {}

---@return string[] names of all options that belong to a window, except those we never touch
local function window_options()
  local names = {}
  for name, info in pairs(api.nvim_get_all_options_info()) do
    if info.scope == "win" and name ~= "scroll" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---What a new window has: values of its own only of options that have no global one to follow.
---@return table<string, any>
function M.global()
  local values, infos = {}, api.nvim_get_all_options_info()
  for _, name in ipairs(window_options()) do
    if infos[name].global_local then
      values[name] = infos[name].type == "string" and "" or -1
    else
      values[name] = api.nvim_get_option_value(name, { scope = "global" })
    end
  end
  values.diff, values.scrollbind, values.cursorbind, values.winfixbuf = false, false, false, false
  return values
end

---@param win integer
---@return table<string, any>
function M.of(win)
  local values = {}
  for _, name in ipairs(window_options()) do
    values[name] = api.nvim_get_option_value(name, { win = win, scope = "local" })
  end
  return values
end

---Sets what differs, for this window only.
---@param win integer
---@param values table<string, any>
function M.apply(win, values)
  for name, value in pairs(values) do
    local where = { win = win, scope = "local" }
    if api.nvim_get_option_value(name, where) ~= value then
      pcall(api.nvim_set_option_value, name, value, where)
    end
  end
end

return M
