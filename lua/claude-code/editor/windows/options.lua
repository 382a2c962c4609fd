--- The options that belong to a window, read and set for that window only.
local api = vim.api

local M = {}

---@param value_of fun(name: string, info: vim.api.keyset.get_option_info): any
---@return table<string, any> values of all options that belong to a window, except those we never touch
local function collect(value_of)
  local values = {}
  for name, info in pairs(api.nvim_get_all_options_info()) do
    if info.scope == "win" and name ~= "scroll" then
      values[name] = value_of(name, info)
    end
  end
  return values
end

---What a new window has: values of its own only of options that have no global one to follow.
---@return table<string, any>
function M.global()
  local values = collect(function(name, info)
    if info.global_local then
      return info.type == "string" and "" or -1
    end
    return api.nvim_get_option_value(name, { scope = "global" })
  end)
  values.diff, values.scrollbind, values.cursorbind, values.winfixbuf = false, false, false, false
  return values
end

---@param win integer
---@return table<string, any>
function M.of(win)
  return collect(function(name)
    return api.nvim_get_option_value(name, { win = win, scope = "local" })
  end)
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
