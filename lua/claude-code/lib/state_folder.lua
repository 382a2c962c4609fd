--- What this Neovim keeps for the next one.
local M = {}

---@param name string
---@return string path of the file or folder of this name in Neovim's own state folder
function M.path(name)
  return vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "claude-code", name)
end

return M
