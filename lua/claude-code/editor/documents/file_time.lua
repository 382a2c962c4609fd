--- Lets Neovim take a buffer for one that was just read from its file or written to it.
local api = vim.api

local M = {}

---Neovim takes over the file's time, and 'modified' goes off; every older undo state counts as
---modified. Neither W11, W12 nor W13 follows, from :checktime or :w.
---
---Neovim 0.10 to 0.12 do all that after a BufWriteCmd, which is to write the file: buf_write() in
---bufwrite.c then calls ml_timestamp(), clears BF_NEW and BF_NOTEDITED, and calls u_unchanged().
---:checktime alone takes over the time that it compares, not the one that :w does.
---@param buf integer without another BufWriteCmd
---@return boolean taken
function M.take(buf)
  local readonly, ignored = vim.bo[buf].readonly, vim.o.eventignore
  vim.o.eventignore = ""
  local autocmd = api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      vim.bo[buf].modified = false
    end,
  })
  local ok = pcall(api.nvim_buf_call, buf, function()
    vim.cmd("silent lockmarks keepalt write!")
  end)
  pcall(api.nvim_del_autocmd, autocmd)
  vim.o.eventignore = ignored
  vim.bo[buf].readonly = readonly
  return ok and not vim.bo[buf].modified
end

return M
