--- nvim-tree/nvim-tree.lua
local api = vim.api

local M = {}

---Its public functions answer for the cursor's line only, so the cursor visits each.
---@type fun(buf: integer, first: integer, last: integer): string[]
function M.paths(_, first, last)
  local tree = require("nvim-tree.api").tree
  local cursor = api.nvim_win_get_cursor(0)
  local paths = {}
  for lnum = first, last do
    api.nvim_win_set_cursor(0, { lnum, 0 })
    local node = tree.get_node_under_cursor()
    -- The root line is a node named "..".
    if node and node.absolute_path and node.name ~= ".." then
      paths[#paths + 1] = node.absolute_path
    end
  end
  api.nvim_win_set_cursor(0, cursor)
  return paths
end

return M
