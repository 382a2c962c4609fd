--- The file panels of sindrets/diffview.nvim.
local api = vim.api

local M = {}

--- A folder of the tree has no absolute path.
---@param item table
---@param top string of the work tree
---@return string?
local function path_of(item, top)
  return item.absolute_path or item.path and vim.fs.joinpath(top, item.path)
end

--- Its panel answers for the cursor's line only, so the cursor visits each.
---@type claude-code.ExplorerPaths
function M.paths(_, first, last)
  local view = require("diffview.lib").get_current_view()
  if not view then
    error("diffview.nvim does not show files here", 0)
  end
  local cursor, paths = api.nvim_win_get_cursor(0), {}
  for row = first, last do
    api.nvim_win_set_cursor(0, { row, 0 })
    local item = view.panel:get_item_at_cursor()
    paths[#paths + 1] = item and path_of(item, view.adapter.ctx.toplevel)
  end
  api.nvim_win_set_cursor(0, cursor)
  return paths
end

return M
