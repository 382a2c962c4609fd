--- The file that accepting a proposal writes. It is found when Claude proposes the change, and again
--- when the user accepts it: symlinks may have changed in between.
local path = require("claude-code.editor.documents.path")
local uv = vim.uv

---As many symlinks as Linux follows.
local MOST_LINKS = 40

---@class claude-code.Destination
---@field path string absolute, all symlinks resolved
---@field private given string as the client named it
local Destination = {}
Destination.__index = Destination

local M = {}

---Also behind symlinks whose target is still to be made, which fs_realpath() does not follow.
---@param name string absolute
---@param links? integer how many may still be followed
---@return string
local function resolve(name, links)
  links = links or MOST_LINKS
  local real = uv.fs_realpath(name)
  if real then
    return vim.fs.normalize(real, { expand_env = false })
  end
  local folder, base = vim.fs.dirname(name), path.base(name)
  if folder == name then
    return name
  end
  local parent = resolve(folder, links)
  local here = vim.fs.joinpath(parent, base)
  local link = links > 0 and uv.fs_readlink(here)
  if not link then
    return here
  end
  return resolve(path.is_absolute(link) and link or vim.fs.joinpath(parent, link), links - 1)
end

---@param given string absolute
---@return claude-code.Destination
function M.of(given)
  return setmetatable({ given = given, path = resolve(given) }, Destination)
end

---Is it in none of the workspace's folders, nor below the working folder?
---@return boolean
function Destination:is_outside()
  local folders = require("claude-code.workspace").folders()
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
  return resolve(self.given) ~= self.path
end

---@param force boolean the user said that a read-only file may be written
---@return string? message why it must not be written
function Destination:refusal(force)
  local title, now = path.title(self.given), resolve(self.given)
  if now ~= self.path then
    local text = "nothing was accepted: %s leads to another file than when Claude proposed this (%s "
      .. "now, %s then); restore the symlink, or reject the proposal"
    return text:format(title, now, self.path)
  elseif not force and self:is_read_only() then
    local text = "nothing was accepted, as %s is read-only; :w! or :ClaudeCodeDiffAccept! writes it"
    return text:format(title)
  end
end

return M
