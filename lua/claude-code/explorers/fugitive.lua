--- The status of tpope/vim-fugitive (:Git).
local M = {}

--- A file's line is its status, a letter, and its name; lines of its diff follow.
---@param row integer
---@return string? text that names the file
local function file_text(row)
  while vim.fn.getline(row):find("^[ @+-]") do
    row = row - 1
  end
  return vim.fn.getline(row):match("^[A-Z?] (.+)$")
end

--- A renamed file has two names in its text, the new one first in its `relative`.
---@param text string
---@return string name relative to the work tree
local function current_name(text)
  for _, section in pairs((vim.b.fugitive_status or {}).files or {}) do
    local file = type(section) == "table" and section[text]
    if file and file.relative and file.relative[1] then
      return file.relative[1]
    end
  end
  return text
end

---@type claude-code.ExplorerPaths
function M.paths(buf, first, last)
  local tree, paths = vim.fn.FugitiveWorkTree(buf), {}
  for row = first, last do
    local text = file_text(row)
    local path = text and vim.fs.joinpath(tree, current_name(text))
    if path and paths[#paths] ~= path then
      paths[#paths + 1] = path
    end
  end
  return paths
end

return M
