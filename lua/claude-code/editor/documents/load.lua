--- Reads a file into its buffer without the swap-file question (E325): nobody may be there to answer.
local api = vim.api
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

local M = {}

---@param buf integer
---@return boolean
local function is_swap_in_use(buf)
  -- Neovim takes the next free name when the first is in use: .swo, .swn, …
  local name = vim.fn.swapname(buf)
  return name ~= "" and not name:find("%.swp$")
end

---Loads a buffer. A file that is open elsewhere, or was when an editor crashed, opens read-only.
---Throws errors of autocommands.
---@param buf integer
function M.load(buf)
  if api.nvim_buf_is_loaded(buf) then
    return
  end
  local shortmess = vim.o.shortmess
  vim.opt.shortmess:append("A")
  local ok, message = pcall(vim.fn.bufload, buf)
  vim.o.shortmess = shortmess
  if not ok then
    error(message, 0)
  end
  if is_swap_in_use(buf) then
    vim.bo[buf].readonly = true
    local base = path.base(api.nvim_buf_get_name(buf))
    notify.warn(base .. " has a swap file: opened read-only; see :help :recover")
  end
end

return M
