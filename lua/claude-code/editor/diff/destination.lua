--- The file that accepting a proposal writes. It is found when Claude proposes the change, and again
--- when the user accepts it: symlinks may have changed in between.
local path = require("claude-code.editor.documents.path")
local uv = vim.uv

---@class claude-code.Destination
---@field path string absolute, all symlinks resolved
---@field private given string as the client named it
local Destination = {}
Destination.__index = Destination

local M = {}

---@param given string absolute
---@return claude-code.Destination
function M.of(given)
  return setmetatable({ given = given, path = path.real(given) }, Destination)
end

---Is it in none of the workspace's folders, nor below the working folder?
---@return boolean
function Destination:is_outside()
  local folders = require("claude-code.lib.workspace").folders()
  table.insert(folders, uv.fs_realpath(vim.fn.getcwd(-1, 0)))
  return not vim.iter(folders):any(function(folder)
    folder = vim.fs.normalize(folder, { expand_env = false }):gsub("/$", "")
    return vim.startswith(self.path, folder .. "/")
  end)
end

---@return boolean may not even its owner write it?
function Destination:is_read_only()
  local stat = uv.fs_stat(self.path)
  -- Root may write any file.
  local writable = stat and bit.band(stat.mode, tonumber("222", 8)) ~= 0
  return stat ~= nil and not (writable and uv.fs_access(self.path, "W"))
end

---Do symlinks lead to another file by now?
---@return boolean
function Destination:has_changed()
  return path.real(self.given) ~= self.path
end

---@param force boolean the user said that a read-only file may be written
---@return string? message why it must not be written
function Destination:refusal(force)
  local title, now = path.title(self.given), path.real(self.given)
  if now ~= self.path then
    local text = "nothing was accepted: %s leads to another file than when Claude proposed this (%s "
      .. "now, %s then); restore the symlink, or reject the proposal"
    return text:format(title, now, self.path)
  elseif not force and self:is_read_only() then
    local text = "nothing was accepted, as %s is read-only; :w! or :Claude diff accept! writes it"
    return text:format(title)
  end
end

return M
