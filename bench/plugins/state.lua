--- The state that a user would notice if it were not as before: windows with their sizes, views and options,
--- the cursor's window, global options. Floats come and go by themselves and don't count.
local api, fn = vim.api, vim.fn

--- Options that plugins set all the time.
local IGNORED = { scroll = true, statusline = true }

---@param win integer
---@return table
local function window(win)
  local buf = api.nvim_win_get_buf(win)
  local view = api.nvim_win_call(win, fn.winsaveview)
  local found = {
    buffer = vim.fs.basename(api.nvim_buf_get_name(buf)),
    size = api.nvim_win_get_width(win) .. "x" .. api.nvim_win_get_height(win),
    view = ("line %d column %d top %d"):format(view.lnum, view.col, view.topline),
    alternate = vim.fs.basename(api.nvim_win_call(win, function()
      return fn.bufname("#")
    end)),
  }
  for name, info in pairs(api.nvim_get_all_options_info()) do
    if info.scope == "win" and not IGNORED[name] then
      found[name] = tostring(api.nvim_get_option_value(name, { win = win, scope = "local" }))
    end
  end
  return found
end

local state = { windows = {}, options = {} }
for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
  if api.nvim_win_get_config(win).relative == "" then
    state.windows[tostring(win)] = window(win)
  end
end
for _, name in ipairs({ "eventignore", "shortmess", "scrollopt", "laststatus", "showtabline" }) do
  state.options[name] = tostring(api.nvim_get_option_value(name, { scope = "global" }))
end
state.options.cmdheight = tostring(vim.o.cmdheight)
state.tabs = #api.nvim_list_tabpages()
state.current = api.nvim_get_current_win()
state.mode = api.nvim_get_mode().mode
return state
