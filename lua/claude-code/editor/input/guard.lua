--- Keys that a buffer does not hear, since they were typed for something else.
local api = vim.api

local M = {}

---@return string[] what starts a command of normal mode; moving by the arrows does no harm
local function starting_keys()
  local names = { "<CR>", "<Esc>", "<Tab>", "<BS>", "<Del>", "<Insert>" }
  for byte = 32, 126 do
    names[#names + 1] = ("<Char-%d>"):format(byte)
  end
  -- CTRL-C stays: it interrupts.
  for letter in ("abdefghjklnopqrstuvwxyz]^_"):gmatch(".") do
    names[#names + 1] = ("<C-%s>"):format(letter)
  end
  names[#names + 1] = "<C-Bslash>"
  return names
end

local KEYS = starting_keys()

--- By mappings rather than a callback of vim.on_key, which cannot discard a key in Neovim 0.10.
---@param buf integer
---@param callback fun() called for each key
function M.swallow(buf, callback)
  local options = { nowait = true, noremap = true, callback = callback, desc = "Not yet heard" }
  for _, key in ipairs(KEYS) do
    api.nvim_buf_set_keymap(buf, "", key, "", options)
  end
end

---@param buf integer it may be gone
function M.release(buf)
  for _, key in ipairs(api.nvim_buf_is_loaded(buf) and KEYS or {}) do
    pcall(api.nvim_buf_del_keymap, buf, "", key)
  end
end

return M
