--- Resets a Neovim to its initial state, except for numbers of buffers and windows, Lua's loaded
--- modules, and highlight groups.
local api = vim.api

local MODES = { "n", "x", "s", "o", "i", "c", "t" }

---@return table<string, { info: vim.api.keyset.get_option_info, global: any, window: any }> by name
local function options()
  local found = {}
  for name, info in pairs(api.nvim_get_all_options_info()) do
    if vim.fn.exists("+" .. name) == 1 and name ~= "scroll" and name ~= "window" then
      found[name] = {
        global = api.nvim_get_option_value(name, { scope = "global" }),
        window = info.scope == "win" and api.nvim_get_option_value(name, { scope = "local" }),
        isWindow = info.scope == "win",
      }
    end
  end
  return found
end

local function keymaps()
  local found = {}
  for _, mode in ipairs(MODES) do
    for _, map in ipairs(api.nvim_get_keymap(mode)) do
      found[mode .. map.lhs] = true
    end
  end
  return found
end

local function autocommands()
  local found = {}
  for _, autocmd in ipairs(api.nvim_get_autocmds({})) do
    if autocmd.id and not autocmd.group then
      found[autocmd.id] = true
    end
  end
  return found
end

local folder = vim.fn.getcwd()
local at_start = { options = options(), keymaps = keymaps(), autocommands = autocommands() }

local function reset_options()
  for name, now in pairs(options()) do
    local before = at_start.options[name]
    if now.global ~= before.global then
      api.nvim_set_option_value(name, before.global, { scope = "global" })
    end
    if now.isWindow and now.window ~= before.window then
      api.nvim_set_option_value(name, before.window, { scope = "local" })
    end
  end
end

---Leaves one window with a new buffer.
local function reset_windows()
  vim.wo.winfixbuf = false
  vim.cmd("silent tabnew | silent tabonly!")
  api.nvim_win_set_buf(0, api.nvim_create_buf(true, false))
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= api.nvim_get_current_buf() then
      api.nvim_buf_delete(buf, { force = true })
    end
  end
  vim.fn.setqflist({}, "f")
  vim.cmd("clearjumps | delmarks A-Z0-9")
end

return function()
  vim.lsp.stop_client(vim.lsp.get_clients(), true)
  for id in pairs(autocommands()) do
    if not at_start.autocommands[id] then
      api.nvim_del_autocmd(id)
    end
  end
  for _, mode in ipairs(MODES) do
    for _, map in ipairs(api.nvim_get_keymap(mode)) do
      if not at_start.keymaps[mode .. map.lhs] then
        api.nvim_del_keymap(mode, map.lhs)
      end
    end
  end
  reset_options()
  reset_windows()
  reset_options()
  vim.cmd.cd(folder)
  require("port").run_clock()
  vim.cmd("messages clear")
  vim.v.errmsg = ""
end
