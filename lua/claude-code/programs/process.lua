--- Which process a CLI is, and where it runs.
local uv = vim.uv

local M = {}

--- A chain of processes that is longer is not followed.
local MAX_ANCESTORS = 20
local TIMEOUT_MS = 2000

---@param path string of a file of the system's, some hundred bytes
local function content(path)
  local file = io.open(path, "r")
  local text = file and file:read(4096) or ""
  if file then
    file:close()
  end
  return text
end

--- The process ids that mean the same processes as here, as Claude Code (2.1.330) names them: those of
--- this machine and of this namespace of process ids, where the system has such.
---@return string
function M.domain()
  local system = uv.os_uname().sysname
  if system == "Linux" then
    local namespace = uv.fs_readlink("/proc/self/ns/pid")
    return ("linux:%s:%s"):format(vim.trim(content("/etc/machine-id")), namespace or "")
  end
  return system:find("Windows") and "linux:" .. uv.os_gethostname():lower() or "linux"
end

---@return string? name
---@return string[] fields of /proc/PID/stat from the third on; none where there is no such file
local function stat(pid)
  -- The name of the program, in parentheses, may hold anything.
  local name, rest = content(("/proc/%s/stat"):format(pid)):match("%((.*)%) (.*)$")
  return name, vim.split(rest or "", " ", { trimempty = true })
end

--- Does a process of this machine run, and is it the one that began at `start`?
---@param pid integer
---@param start? string field 22 of /proc/PID/stat; elsewhere it says nothing
---@return boolean
function M.is_alive(pid, start)
  local _, _, code = uv.kill(pid, 0)
  local _, fields = stat(pid)
  -- It has ended, and its parent has not waited for it yet: in containers that may never come.
  local has_ended = fields[1] == "Z" or fields[1] == "X"
  if code == "ESRCH" or has_ended then
    return false
  end
  return not start or not fields[20] or fields[20] == start
end

---@return string output of ps(1); "" if it cannot be run
local function ps(arguments)
  local path = require("claude-code.programs").on_path("ps")
  local command = vim.list_extend({ path or "" }, arguments)
  local ok, started = pcall(vim.system, command, { text = true, env = { LC_ALL = "C" } })
  return ok and started:wait(TIMEOUT_MS).stdout or ""
end

---@class claude-code.ProcessParent
---@field name string of the program
---@field parent integer

--- All processes as ps(1) shows them, for systems without /proc/PID/stat.
---@return table<integer, claude-code.ProcessParent>
function M.by_ps()
  local all = {}
  for line in vim.gsplit(ps({ "-A", "-o", "pid=,ppid=,comm=" }), "\n") do
    local pid, parent, path = line:match("^%s*(%d+)%s+(%d+)%s+(.-)%s*$")
    if pid then
      all[tonumber(pid)] = { parent = tonumber(parent), name = vim.fs.basename(path) }
    end
  end
  return all
end

---@return fun(pid: integer): claude-code.ProcessParent?
local function parents()
  local has_stat = stat("self") ~= nil
  if not has_stat then
    local all = M.by_ps()
    return function(pid)
      return all[pid]
    end
  end
  return function(pid)
    local name, fields = stat(pid)
    return name and { name = name, parent = tonumber(fields[2]) }
  end
end

---@class claude-code.ProcessPlace
---@field where "here"|"neovim"|"outside"
---@field ancestors integer[] itself first

--- In which Neovim a process runs.
---@param pid integer
---@return claude-code.ProcessPlace
function M.place(pid)
  local place, own = { where = "outside", ancestors = { pid } }, uv.os_getpid()
  local parent_of = parents()
  for _ = 1, MAX_ANCESTORS do
    local process = parent_of(pid)
    if process and process.name == "nvim" then
      place.where = "neovim"
      return place
    elseif process and process.parent == own then
      place.where = "here"
      return place
    elseif not process or process.parent <= 1 then
      return place
    end
    table.insert(place.ancestors, process.parent)
    pid = process.parent
  end
  return place
end

--- The terminal of this Neovim in which a process runs, whoever opened it.
---@param ancestors integer[] of the process, itself first
---@return integer? buf
function M.terminal(ancestors)
  return vim.iter(vim.api.nvim_list_bufs()):find(function(buf)
    return vim.list_contains(ancestors, vim.b[buf].terminal_job_pid)
  end)
end

return M
