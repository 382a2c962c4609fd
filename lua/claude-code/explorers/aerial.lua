--- stevearc/aerial.nvim: the symbols of a file.
local M = {}

---@type claude-code.ExplorerPaths
function M.paths(buf, first, last)
  local source = require("aerial.util").get_source_buffer(buf)
  local data = require("aerial.data").get_or_create(source)
  local path, items = vim.api.nvim_buf_get_name(source), {}
  for row = first, last do
    local symbol = data:item(row)
    items[#items + 1] = symbol and { path = path, first = symbol.lnum, last = symbol.end_lnum }
  end
  return items
end

return M
