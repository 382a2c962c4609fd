--- Reads only regular files. A project may replace a file with a FIFO, a device or a file of /proc at any time, and a
--- reader would then wait or read forever.
local uv = vim.uv

--- Opening a FIFO does not wait. Windows has neither FIFOs nor the flag.
local FLAGS = uv.constants.O_RDONLY + (uv.constants.O_NONBLOCK or 0)

local M = {}

---@param count number in bytes
---@param most? number in bytes, of the whole file
---@return string? bytes at most `count`; nil unless it is a readable regular file of at most `most` bytes
---@return string? problem the system's
function M.head(path, count, most)
  local file, problem = uv.fs_open(path, FLAGS, 0)
  local stat = file and uv.fs_fstat(file)
  local bytes ---@type string?
  if stat and stat.type == "file" and stat.size <= (most or math.huge) then
    count = math.min(count, stat.size)
    bytes, problem = uv.fs_read(file, count, 0)
  end
  if file then
    uv.fs_close(file)
  end
  return bytes, problem
end

---@param most integer in bytes
---@return string? bytes nil unless it is a readable regular file of at most this size
function M.read(path, most)
  return (M.head(path, most, most))
end

---A file without any write permission is read-only even for root.
function M.is_writable(path)
  local stat = uv.fs_stat(path)
  return stat ~= nil and bit.band(stat.mode, 146) ~= 0 and uv.fs_access(path, "W") == true -- 0222
end

return M
