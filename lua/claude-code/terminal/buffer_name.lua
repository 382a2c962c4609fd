--- The name of the terminal's buffer. Neovim's own, `term://…`, names the command without its
--- arguments: a session file (:mksession) with it would start a CLI that is not connected. With
--- this one nothing starts, and plugin/claude-code.lua removes the buffer.
local api = vim.api

local M = {}

local NAME = "claude-code://terminal"

---@param name string
---@param except integer
local function wipe_buffer_named(name, except)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= except and api.nvim_buf_get_name(buf) == name then
      vim.cmd.bwipeout({ buf, bang = true, mods = { noautocmd = true } })
    end
  end
end

---@param buf integer its command has started
---@param n integer the session's number
function M.set(buf, n)
  local before = api.nvim_buf_get_name(buf)
  local name = n == 1 and NAME or ("%s/%d"):format(NAME, n)
  wipe_buffer_named(name, buf)
  -- The alternate file is the user's.
  vim.cmd.lua({
    ("vim.api.nvim_buf_set_name(%d, %q)"):format(buf, name),
    mods = { keepalt = true, silent = true },
  })
  -- Neovim keeps the old name for another, empty buffer.
  if before ~= "" then
    wipe_buffer_named(before, buf)
  end
end

return M
