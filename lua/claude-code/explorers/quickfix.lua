--- Neovim's quickfix and location lists.
local M = {}

--- Entries without a file have no buffer.
---@type claude-code.ExplorerPaths
function M.paths(_, first, last)
  local is_location_list = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1].loclist == 1
  local entries = is_location_list and vim.fn.getloclist(0) or vim.fn.getqflist()
  local items = {}
  for _, entry in ipairs(vim.list_slice(entries, first, last)) do
    if entry.bufnr > 0 then
      items[#items + 1] = {
        path = vim.api.nvim_buf_get_name(entry.bufnr),
        first = entry.lnum > 0 and entry.lnum or nil,
        last = entry.end_lnum > entry.lnum and entry.end_lnum or nil,
      }
    end
  end
  return items
end

return M
