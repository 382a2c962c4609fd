--- nvim-neo-tree/neo-tree.nvim
local M = {}

---@type fun(buf: integer, first: integer, last: integer): string[]
function M.paths(_, first, last)
  local state = require("neo-tree.sources.manager").get_state_for_window()
  if not state or not state.tree then
    error("neo-tree does not show a tree here", 0)
  end
  local paths = {}
  for lnum = first, last do
    local node = state.tree:get_node(lnum)
    if node and (node.type == "file" or node.type == "directory") then
      paths[#paths + 1] = node.path or node:get_id()
    end
  end
  return paths
end

return M
