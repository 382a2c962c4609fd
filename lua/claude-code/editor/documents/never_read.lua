--- Buffers whose file Neovim has never read, since it was not there when the buffer was made.
--- :checktime then asks (W13), or does nothing after `:file`. No autocommand can answer.
local api = vim.api

local M = {}

---Only the text of :file shows it.
---@param buf integer
---@return boolean
function M.is(buf)
  local text = api.nvim_buf_call(buf, function()
    return vim.fn.execute("file")
  end)
  -- Behind the name, which may hold anything.
  local flags = text:match('^.*"(.-)$') or ""
  return vim.iter({ "[New]", "[Not edited]" }):any(function(flag)
    return flags:find(vim.fn.gettext(flag), 1, true) ~= nil
  end)
end

---Lets Neovim know that the file is there, and keeps the edits: :redo leads to the
---file's text, and :w (E13) wants a ! to replace the file.
---@param buf integer modified
function M.note_file(buf)
  local edits = api.nvim_buf_get_lines(buf, 0, -1, false)
  api.nvim_buf_call(buf, function()
    vim.cmd("silent! keepjumps keepalt edit!")
    vim.cmd("silent! keepjumps undo")
    vim.cmd("silent! noautocmd keepalt file " .. vim.fn.fnameescape(api.nvim_buf_get_name(buf)))
  end)
  -- Without an undo history, or with autocommands that change what was read.
  if not vim.deep_equal(api.nvim_buf_get_lines(buf, 0, -1, false), edits) then
    api.nvim_buf_set_lines(buf, 0, -1, false, edits)
  end
  vim.bo[buf].modified = true
end

return M
