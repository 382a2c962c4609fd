--- stevearc/oil.nvim
local M = {}

---@type fun(buf: integer, first: integer, last: integer): string[]
function M.paths(buf, first, last)
  local oil = require("oil")
  local folder = oil.get_current_dir(buf)
  if not folder then
    error("this oil buffer does not show a local folder", 0)
  end
  local paths = {}
  for lnum = first, last do
    local entry = oil.get_entry_on_line(buf, lnum)
    if entry and entry.name ~= ".." then
      paths[#paths + 1] = vim.fs.joinpath(folder, entry.name)
    end
  end
  return paths
end

return M
