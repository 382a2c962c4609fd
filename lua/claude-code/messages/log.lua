---@alias claude-code.LogLevel "debug"|"info"|"warn"|"error"|"off"

--- The log file, which the executable shares. Each line is one write, so that lines of several processes do not mix.
--- Fast contexts (uv callbacks) must schedule a call.
local M = {
  --- config/ sets it.
  ---@type claude-code.LogLevel
  level = "info",
}

local RANK = { debug = 1, info = 2, warn = 3, error = 4, off = 5 }
--- The executable has the same limit (src/lib/log.ts).
local MAX_BYTES = 5 * 1024 * 1024

local concealed = {} ---@type string[] secrets

function M.path()
  return vim.fn.stdpath("log") .. "/claude-code.log"
end

---@param secret string the log has `<hidden>` in its place from now on
function M.conceal(secret)
  table.insert(concealed, secret)
end

--- Renames a file that has grown too long, and keeps one such file.
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

local function write(level, text)
  if RANK[level] < RANK[M.level] then
    return
  end
  for _, secret in ipairs(concealed) do
    text = text:gsub(vim.pesc(secret), "<hidden>")
  end
  -- ISO 8601 with milliseconds, as in the executable.
  local seconds, microseconds = assert(vim.uv.gettimeofday())
  local date = os.date("!%Y-%m-%dT%H:%M:%S", seconds)
  local head = ("%s.%03dZ %s nvim[%d]"):format(
    date,
    math.floor(microseconds / 1000),
    level:upper(),
    vim.uv.os_getpid()
  )
  append(M.path(), ("%s %s\n"):format(head, (text:gsub("\n", "\\n"))))
end

---@return fun(format: string, ...: any) without more arguments a `%` is literal
local function writer(level)
  return function(format, ...)
    write(level, select("#", ...) > 0 and format:format(...) or format)
  end
end

M.info = writer("info")
M.warn = writer("warn")
M.error = writer("error")

return M
