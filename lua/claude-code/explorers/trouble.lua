--- folke/trouble.nvim, version 3
local M = {}

---@param location { item?: table, node?: table } of a row
---@return claude-code.MentionItem?
local function to_mention(location)
  local item = location.item
  if not item or not item.filename then
    return nil
  elseif location.node and location.node.group then
    return item.filename -- a file's heading
  end
  local first = item.pos and item.pos[1]
  return { path = item.filename, first = first, last = item.end_pos and item.end_pos[1] or first }
end

---@type claude-code.ExplorerPaths
function M.paths(buf, first, last)
  for _, open in ipairs(require("trouble.view").get({ open = true })) do
    if open.view.win.buf == buf then
      local items = {}
      for row = first, last do
        items[#items + 1] = to_mention(open.view:at({ row, 0 }))
      end
      return items
    end
  end
  error("trouble.nvim does not show a list here", 0)
end

return M
