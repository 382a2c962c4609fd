--- A buffer in which keys do nothing for a while, since they were typed for something else.
local api = vim.api

local M = {}

---@return string[] keys that start a command of normal mode, except the harmless arrows and CTRL-C
local function starting_keys()
  local names = { "<CR>", "<Esc>", "<Tab>", "<BS>", "<Del>", "<Insert>", "<C-Bslash>" }
  for byte = 32, 126 do
    names[#names + 1] = ("<Char-%d>"):format(byte)
  end
  for letter in ("abdefghjklnopqrstuvwxyz]^_"):gmatch(".") do
    names[#names + 1] = ("<C-%s>"):format(letter)
  end
  return names
end

local KEYS = starting_keys()

---By mappings rather than a callback of vim.on_key, which cannot discard a key in Neovim 0.10.
---@param buf integer
---@param on_key fun() called for each key
function M.block(buf, on_key)
  local options =
    { nowait = true, noremap = true, callback = on_key, desc = "Blocked for a moment" }
  for _, key in ipairs(KEYS) do
    api.nvim_buf_set_keymap(buf, "", key, "", options)
  end
end

---@param buf integer it may be gone
function M.unblock(buf)
  for _, key in ipairs(api.nvim_buf_is_loaded(buf) and KEYS or {}) do
    pcall(api.nvim_buf_del_keymap, buf, "", key)
  end
end

return M
