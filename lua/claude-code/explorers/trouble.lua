--- folke/trouble.nvim, version 3
local M = {}

--- Headings group by file, by folder, or by something that is no path.
---@param group { directory?: boolean, fields?: string[] }
---@return boolean
local function is_path(group)
  return group.directory or vim.deep_equal(group.fields, { "filename" })
end

---@param node? { item?: table, group?: table } of a row
---@return claude-code.MentionItem?
local function to_mention(node)
  local item = node and node.item
  if not node or not item or not item.filename then
    return nil
  elseif node.group then
    return is_path(node.group) and item.filename or nil
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
        items[#items + 1] = to_mention(open.view:at({ row, 0 }).node)
      end
      return items
    end
  end
  error("trouble.nvim does not show a list here", 0)
end

return M
