--- Reads regular files, and nothing else. A project may have a FIFO, a device or a file of /proc in the place of
--- any file, also a moment after it was looked at: the reader would wait, or read, without an end.
local uv = vim.uv

--- Never waits, as for a FIFO. Windows has neither those nor the flag.
local FLAGS = uv.constants.O_RDONLY + (uv.constants.O_NONBLOCK or 0)

local M = {}

---@param most number in bytes
---@param count number in bytes
local function read(path, most, count)
  local file, problem = uv.fs_open(path, FLAGS, 0)
  local stat = file and uv.fs_fstat(file)
  local bytes ---@type string?
  if stat and stat.type == "file" and stat.size <= most then
    -- No more than the file is said to hold.
    count = math.min(count, stat.size)
    bytes, problem = uv.fs_read(file, count, 0)
  end
  if file then
    uv.fs_close(file)
  end
  return bytes, problem
end

---@param path string
---@param most integer in bytes
---@return string? bytes nil for what is not a regular file, is larger, or cannot be read
function M.read(path, most)
  return read(path, most, most)
end

---Root may write what no one may: the user made it read-only all the same.
---@param path string
---@return boolean may anybody write it, and this process? false for what is not there
function M.is_writable(path)
  local stat = uv.fs_stat(path)
  return stat ~= nil and bit.band(stat.mode, 146) ~= 0 and uv.fs_access(path, "W") == true -- 0222
end

---@param path string
---@param count integer in bytes
---@return string? bytes the first ones; nil for what is not a regular file, or cannot be read
---@return string? problem the system's, where that cannot be read
function M.head(path, count)
  return read(path, math.huge, count)
end

return M
