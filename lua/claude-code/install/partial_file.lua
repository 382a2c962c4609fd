--- The file that a download is written to: FILE.PID.part. To other Neovims it is the sign that this
--- one downloads; there is no lock that a killed Neovim could leave behind.
local M = {}

local store = require("claude-code.install.store")

--- A file that has not grown for so long is abandoned: a download gives up earlier.
local STALE_S = 60

---@param file string name of the archive
---@return string? path of an empty file
---@return string? message
function M.create(file)
  local path = vim.fs.joinpath(store.download(), ("%s.%d.part"):format(file, vim.uv.os_getpid()))
  local handle, failure = vim.uv.fs_open(path, "w", tonumber("644", 8))
  if not handle then
    local text = "cannot write to %s (%s); make the folder writable, or set binary.path"
    return nil, text:format(path, failure)
  end
  vim.uv.fs_close(handle)
  return path
end

--- Whether another Neovim downloads the same archive, so that waiting for it is cheaper. Of two that
--- begin at the same moment the one with the lower process id goes on.
---@param file string name of the archive
---@return boolean
function M.is_downloaded_elsewhere(file)
  local pattern, own = "^" .. vim.pesc(file) .. "%.(%d+)%.part$", vim.uv.os_getpid()
  for name in vim.fs.dir(store.download()) do
    local pid = tonumber(name:match(pattern))
    local stat = pid and vim.uv.fs_stat(vim.fs.joinpath(store.download(), name))
    if stat and pid ~= own and vim.uv.kill(pid, 0) == 0 then
      local is_fresh = os.time() - stat.mtime.sec < STALE_S
      if is_fresh and (stat.size > 0 or pid < own) then
        return true
      end
    end
  end
  return false
end

return M
