--- Which process a CLI is, and where it runs.
local uv = vim.uv

local M = {}

--- A chain of processes that is longer is not followed.
local MOST_ANCESTORS = 20

---@param path string of a file of the system's, some hundred bytes
---@return string
local function content(path)
  local file = io.open(path, "r")
  local text = file and file:read(4096) or ""
  if file then
    file:close()
  end
  return text
end

local domain ---@type string?

--- The process ids that mean the same processes as here, as Claude Code (2.1.330) names them: those of
--- this machine and of this namespace of process ids, where the system has such.
---@return string
function M.domain()
  if not domain then
    local system = uv.os_uname().sysname
    local namespace = uv.fs_readlink("/proc/self/ns/pid")
    if system == "Linux" then
      domain = ("linux:%s:%s"):format(vim.trim(content("/etc/machine-id")), namespace or "")
    elseif system:find("Windows") then
      domain = "linux:" .. uv.os_gethostname():lower()
    else
      domain = "linux"
    end
  end
  return domain
end

---@param pid integer
---@return string? name
---@return string[] fields of /proc/PID/stat from the third on; none where there is no such file
local function stat(pid)
  -- The name of the program, in parentheses, may hold anything.
  local name, rest = content(("/proc/%d/stat"):format(pid)):match("%((.*)%) (.*)$")
  return name, vim.split(rest or "", " ", { trimempty = true })
end

--- Does a process of this machine run, and is it the one that began at `start`?
---@param pid integer
---@param start? string field 22 of /proc/PID/stat; elsewhere it says nothing
---@return boolean
function M.is_alive(pid, start)
  local _, _, code = uv.kill(pid, 0)
  if code == "ESRCH" then
    return false
  end
  local _, fields = stat(pid)
  return not start or not fields[20] or fields[20] == start
end

---@class claude-code.ProcessPlace
---@field where "here"|"neovim"|"outside"
---@field ancestors integer[] itself first

--- In which Neovim a process runs. Only Linux says it at once; nvim_get_proc() runs ps(1) twice.
---@param pid integer
---@return claude-code.ProcessPlace
function M.place(pid)
  local place, own = { where = "outside", ancestors = { pid } }, uv.os_getpid()
  for _ = 1, MOST_ANCESTORS do
    local name, fields = stat(pid)
    local parent = tonumber(fields[2])
    if name == "nvim" then
      place.where = "neovim"
      return place
    elseif parent == own then
      place.where = "here"
      return place
    elseif not parent or parent <= 1 then
      return place
    end
    table.insert(place.ancestors, parent)
    pid = parent
  end
  return place
end

return M
