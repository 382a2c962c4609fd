--- echasnovski/mini.files
local M = {}

---@type fun(buf: integer, first: integer, last: integer): string[]
function M.paths(buf, first, last)
  local files = require("mini.files")
  local paths = {}
  for lnum = first, last do
    local entry = files.get_fs_entry(buf, lnum)
    if entry then
      paths[#paths + 1] = entry.path
    end
  end
  return paths
end

return M
