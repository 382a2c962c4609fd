--- Buffers with the base text of a file: what stood there before Claude's unreviewed changes. A deleted
--- file is read there before it is brought back.
local api = vim.api
local client = require("claude-code.editor.review.client")
local file_lines = require("claude-code.editor.documents.lines")

local M = { SCHEME = "claude-code://base" }

---@param buf integer
---@param bytes? string
---@param problem? string
local function fill(buf, bytes, problem)
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  local text = bytes or problem or "there is nothing to review in this file"
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, false, file_lines.parse(text).lines)
  vim.bo[buf].modifiable, vim.bo[buf].modified = false, false
  local filetype =
    vim.filetype.match({ buf = buf, filename = api.nvim_buf_get_name(buf):sub(#M.SCHEME + 1) })
  if filetype then
    vim.bo[buf].filetype = filetype
  end
end

---Loads such a buffer (BufReadCmd).
---@param buf integer
function M.load(buf)
  local options = { buftype = "nofile", bufhidden = "hide", swapfile = false, modifiable = false }
  for option, value in pairs(options) do
    vim.bo[buf][option] = value
  end
  local file = api.nvim_buf_get_name(buf):sub(#M.SCHEME + 1)
  client.request("base", { path = file }, function(value, problem)
    fill(buf, value and value.text, problem)
  end)
end

---@param buf integer
---@return string? file whose base text it holds
function M.file_of(buf)
  local name = api.nvim_buf_get_name(buf)
  return vim.startswith(name, M.SCHEME .. "/") and name:sub(#M.SCHEME + 1) or nil
end

return M
