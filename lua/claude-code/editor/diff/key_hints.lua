--- Popups of which-key.nvim and mini.clue for the keys of a diff. Both prepare a buffer when it is
--- entered; a diff is entered with autocommands off, so that nothing else attaches to it.
local api = vim.api

local M = {}

---@param buffers integer[] of the diff, one of them the current buffer
function M.prepare(buffers)
  local clue = rawget(_G, "MiniClue")
  for _, buf in ipairs(clue and buffers or {}) do
    pcall(clue.ensure_buf_triggers, buf)
  end
  if package.loaded["which-key"] then
    -- The group is which-key's own (version 3).
    local event = { group = "wk", buffer = api.nvim_get_current_buf(), modeline = false }
    pcall(api.nvim_exec_autocmds, "BufEnter", event)
  end
end

return M
