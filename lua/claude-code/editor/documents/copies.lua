--- Which files are copies of those on another machine (mirror.lua).
local path = require("claude-code.editor.documents.path")

local M = {}

---The folder of all copies, as `mirrorsFolder` in src/lib/paths.ts.
---@return string
---@return string real its real path
function M.root()
  local state, name = vim.env.XDG_STATE_HOME or "", "/claude-code.nvim/mirrors"
  state = vim.startswith(state, "/") and state or vim.env.HOME .. "/.local/state"
  if vim.fn.has("win32") == 1 then
    state, name = vim.fs.normalize(vim.env.LOCALAPPDATA), "/claude-code.nvim/state/mirrors"
  end
  return state .. name, path.real(state .. name)
end

---By where a name leads: a user may have a symlink to such a folder.
---@param name string
---@return string? real its real path; nil if it is no copy
function M.path(name)
  local real = path.is_absolute(name) and path.real(name) or ""
  return path.is_inside(real, select(2, M.root())) and real or nil
end

---@param name string of a copy
---@return string top what it begins with that leads there: the folder of all, or a symlink
function M.top(name)
  local _, root = M.root()
  local folder = vim.fs.dirname(name)
  while path.is_inside(path.real(folder) .. "/", root) do
    name, folder = folder, vim.fs.dirname(folder)
  end
  return name
end

return M
