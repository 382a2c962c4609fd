--- The file that a download is written to: FILE.PID.part, where PID is that of the Neovim it
--- belongs to. It is also the sign to others that this Neovim is at it; there is no lock that
--- somebody killed could leave behind.
local M = {}

--- A part that has not grown for so long belongs to nobody: downloads give up earlier.
local FRESH_S = 60

---@class claude-code.Part
---@field path string
---@field pid integer
---@field size integer in bytes
---@field fresh boolean whether it was written to lately
---@field alive boolean whether its Neovim runs

---@param file string name of the archive
---@return string
function M.path(file)
  local name = ("%s.%d.part"):format(file, vim.uv.os_getpid())
  return vim.fs.joinpath(require("claude-code.install.store").download(), name)
end

---@param file string
---@return claude-code.Part[] those of other Neovims
local function others(file)
  local folder, parts = require("claude-code.install.store").download(), {}
  for name in vim.fs.dir(folder) do
    local pid = tonumber(name:match("^" .. vim.pesc(file) .. "%.(%d+)%.part$"))
    local stat = vim.uv.fs_stat(vim.fs.joinpath(folder, name))
    if pid and stat and pid ~= vim.uv.os_getpid() then
      table.insert(parts, {
        path = vim.fs.joinpath(folder, name),
        pid = pid,
        size = stat.size,
        fresh = os.time() - stat.mtime.sec < FRESH_S,
        alive = vim.uv.kill(pid, 0) == 0,
      })
    end
  end
  return parts
end

--- Takes over what a Neovim that ended had fetched. A rename, so that only one can have it.
---@param release claude-code.Release
---@param path string
local function adopt(release, path)
  for _, part in ipairs(others(release.file)) do
    if not part.alive and not part.fresh and part.size <= release.size then
      if vim.uv.fs_rename(part.path, path) then
        return
      end
    end
  end
end

--- The size of one's own part, from which a download goes on. 0 if there is none worth it.
---@param release claude-code.Release
---@return integer bytes
function M.resumable(release)
  local path = M.path(release.file)
  if not vim.uv.fs_stat(path) then
    adopt(release, path)
  end
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > release.size then
    vim.uv.fs_unlink(path)
    return 0
  end
  return stat and stat.size or 0
end

--- Shows others that this Neovim begins.
---@param file string
---@return boolean? done
---@return string? message
function M.claim(file)
  local path = M.path(file)
  local handle, failure = vim.uv.fs_open(path, "a", tonumber("644", 8))
  if not handle then
    local text = "cannot write to %s (%s); make the folder writable, or set binary.path"
    return nil, text:format(path, failure)
  end
  vim.uv.fs_close(handle)
  return true
end

--- Whether another Neovim is at the same archive, so that waiting for it is cheaper. Of two that
--- begin at the same moment the one with the lower pid goes on.
---@param file string
---@return boolean
function M.contended(file)
  return vim.iter(others(file)):any(function(part)
    return part.alive and part.fresh and (part.size > 0 or part.pid < vim.uv.os_getpid())
  end)
end

return M
