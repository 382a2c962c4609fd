--- The lists of folke/snacks.nvim: its explorer, and every picker of files or places in them.
local M = {}

---@param buf integer
---@return table? picker
local function picker_of(buf)
  return vim.iter(require("snacks.picker").get()):find(function(picker)
    return picker.list.win.buf == buf
  end)
end

--- An item of a search knows its place, one of a file list has none.
---@param item table
---@return claude-code.MentionItem?
local function to_mention(item)
  local path = require("snacks.picker.util").path(item)
  local line = item.pos and item.pos[1] > 0 and item.pos[1] or nil
  return path and { path = path, first = line, last = item.end_pos and line and item.end_pos[1] }
end

--- The selected items, unless lines are given; without any the one under the cursor.
---@type claude-code.ExplorerPaths
function M.paths(buf, first, last, is_range)
  local picker = picker_of(buf)
  if not picker then
    error("snacks.nvim does not show a picker here", 0)
  end
  local items = is_range and {} or vim.iter(picker:selected()):map(to_mention):totable()
  if #items > 0 then
    return items
  end
  for row = first, last do
    local item = picker.list:get(picker.list:row2idx(row))
    items[#items + 1] = item and to_mention(item)
  end
  return items
end

return M
