--- Gives a buffer the new name of its file, and the file's text: windows, marks and undo history stay.
local api = vim.api
local file_change = require("claude-code.editor.documents.file_change")
local file_time = require("claude-code.editor.documents.file_time")
local patch = require("claude-code.editor.documents.patch")

local M = {}

---@param name string
---@param keep integer
local function delete_buffers_named(name, keep)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= keep and api.nvim_buf_get_name(buf) == name then
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end
end

---@param buf integer
local function take_text(buf)
  local change = file_change.read(buf)
  if change then
    patch.apply(buf, change)
    file_time.take(buf)
  else
    api.nvim_buf_call(buf, function()
      vim.cmd("silent! keepjumps keepalt edit!")
    end)
  end
end

---Language servers see the old file closed and the new one opened.
---@param buf integer loaded, without unsaved changes
---@param name string the new one; no loaded buffer has it
function M.run(buf, name)
  local old = api.nvim_buf_get_name(buf)
  local clients = package.loaded["vim.lsp"] and vim.lsp.get_clients({ bufnr = buf }) or {}
  for _, client in ipairs(clients) do
    vim.lsp.buf_detach_client(buf, client.id)
  end
  delete_buffers_named(name, buf)
  api.nvim_buf_call(buf, function()
    vim.cmd("silent keepalt file " .. vim.fn.fnameescape(name))
  end)
  -- Neovim made one for the old name.
  delete_buffers_named(old, buf)
  take_text(buf)
  for _, client in ipairs(clients) do
    vim.lsp.buf_attach_client(buf, client.id)
  end
end

return M
