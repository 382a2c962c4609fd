---@alias claude-code.LogLevel "debug"|"info"|"warn"|"error"|"off"

--- The log file, which the executable shares. Each line is one write, so that lines of several processes do not mix.
--- Do not call it in fast contexts (uv callbacks): schedule first.
local M = {
  --- config/ sets it to the option log.level: this file requires no other.
  ---@type claude-code.LogLevel
  level = "info",
}

local RANK = { debug = 1, info = 2, warn = 3, error = 4, off = 5 }
--- The executable has the same limit (src/lib/log.ts).
local MAX_BYTES = 5 * 1024 * 1024

local concealed = {} ---@type string[] secrets

---@return string
function M.path()
  return vim.fn.stdpath("log") .. "/claude-code.log"
end

--- Writes `secret` as `<hidden>` from now on.
---@param secret string
function M.conceal(secret)
  table.insert(concealed, secret)
end

--- Appends to the file. Renames a file that grew too long (and keeps one).
local function append(path, line)
  pcall(vim.fn.mkdir, vim.fs.dirname(path), "p")
  local stat = vim.uv.fs_stat(path)
  if stat and stat.size > MAX_BYTES then
    vim.uv.fs_rename(path, path .. ".old")
  end
  local fd = vim.uv.fs_open(path, "a", tonumber("600", 8))
  if fd then
    vim.uv.fs_write(fd, line)
    vim.uv.fs_close(fd)
  end
end

---@return string ISO 8601 with milliseconds, as in the executable
local function timestamp()
  local seconds, microseconds = assert(vim.uv.gettimeofday())
  local date = os.date("!%Y-%m-%dT%H:%M:%S", seconds)
  return ("%s.%03dZ"):format(date, math.floor(microseconds / 1000))
end

local function write(level, text)
  if RANK[level] < RANK[M.level] then
    return
  end
  for _, secret in ipairs(concealed) do
    text = text:gsub(vim.pesc(secret), "<hidden>")
  end
  local line = ("%s %s nvim[%d] %s\n"):format(
    timestamp(),
    level:upper(),
    vim.uv.os_getpid(),
    (text:gsub("\n", "\\n"))
  )
  append(M.path(), line)
end

---@return fun(format: string, ...: any) without further arguments a `%` is literal
local function writer(level)
  return function(format, ...)
    write(level, select("#", ...) > 0 and format:format(...) or format)
  end
end

M.info = writer("info")
M.warn = writer("warn")
M.error = writer("error")

return M
