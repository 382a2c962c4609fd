--- Buffers with the base text of a file: what stood there before Claude's unreviewed changes. A deleted
--- file is read there before it is brought back. One that is binary has words there.
local api = vim.api
local client = require("claude-code.editor.review.client")
local file_lines = require("claude-code.editor.documents.lines")
local listing = require("claude-code.editor.review.listing")

local M = { SCHEME = "claude-code://base" }

---@param name string absolute
---@return string
function M.binary_words(name)
  local stat = vim.uv.fs_stat(name)
  return stat and ("binary file, %.1f kB"):format(stat.size / 1000) or "binary file"
end

---@param file claude-code.ReviewFile
---@return string name of the buffer in which it is shown
function M.shown_name(file)
  return (file.kind == "deleted" or file.binary) and M.SCHEME .. file.path or file.path
end

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
    local listed = listing.of_path(file)
    local words = listed and listed.binary and M.binary_words(file) or nil
    fill(buf, words or value and value.text, problem)
  end)
end

---@param buf integer
---@return string? file whose base text it holds
function M.file_of(buf)
  local name = api.nvim_buf_get_name(buf)
  return vim.startswith(name, M.SCHEME .. "/") and name:sub(#M.SCHEME + 1) or nil
end

return M
