--- What running CLIs say of themselves: each keeps `sessions/PID.json` in Claude Code's folder and
--- rewrites it whenever something changes (measured with 2.1.330). Nobody promised that format, so
--- whatever is not as expected is left out.
local regular_file = require("claude-code.lib.regular_file")
local uv = vim.uv

local M = {}

---@class claude-code.CliFile
---@field pid integer
---@field id? string
---@field cwd string absolute
---@field name? string
---@field job? string of one in the background: what `claude attach` takes
---@field is_background boolean
---@field start? string when the process began, as claude-code.programs.process.is_alive takes it
---@field domain? string of the process id
---@field report? claude-code.StateReport nil: it starts, and has none yet

--- The CLI itself reads no more (2.1.330).
local MAX_BYTES = 262144
--- Files that are looked at, of a folder that may hold anything.
local MAX_FILES = 500
local MAX_NAME = 80
--- How often the folder is read where the system watches no more, in ms.
local LOOK_MS = 1000

--- "shell": the turn is over and a command of it still runs; the CLI, too, calls that "working".
local STATES = { idle = "idle", busy = "working", shell = "working", waiting = "blocked" }
local KINDS = {
  ["permission prompt"] = "permission",
  ["sandbox request"] = "permission",
  ["input needed"] = "question",
  ["goal proposal"] = "question",
  ["dialog open"] = "question",
}

local function text(value)
  return type(value) == "string" and value ~= "" and value or nil
end

---@param pid integer
---@param json string
---@return claude-code.CliFile? nil: not a session's, or not as expected
function M.parse(pid, json)
  local ok, data = pcall(vim.json.decode, json, { luanil = { object = true, array = true } })
  local cwd = ok and type(data) == "table" and text(data.cwd)
  if not cwd or data.pid ~= pid or data.spare == true then
    return nil
  elseif data.kind ~= "interactive" and data.kind ~= "bg" then
    return nil
  end
  -- One that is not known counts as idle: nobody has to wait for it.
  local state = data.status ~= nil and (STATES[data.status] or "idle") or nil
  return {
    pid = pid,
    id = text(data.sessionId),
    cwd = cwd,
    -- One that the CLI has made up says no more than the folder.
    name = data.nameSource ~= "derived"
        and require("claude-code.lib.text").one_line(data.name, MAX_NAME)
      or nil,
    -- It becomes an argument, and is no option.
    job = data.kind == "bg" and (text(data.jobId) or ""):match("^%w[%w_-]*$") or nil,
    is_background = data.kind == "bg",
    start = text(data.procStart),
    domain = text(data.pidDomain),
    report = state
      and { state = state, kind = state == "blocked" and KINDS[data.waitingFor] or nil },
  }
end

local function sessions_folder()
  return vim.fs.joinpath(require("claude-code.claude.cli").settings_folder(), "sessions")
end

local function path_of(pid)
  return vim.fs.joinpath(sessions_folder(), pid .. ".json")
end

---Does the CLI with this process id ask its user something, so that Enter would be an answer? One whose
---file cannot be read asks nothing.
---@param pid integer
---@return boolean
function M.is_asking(pid)
  local ok, data = pcall(vim.json.decode, regular_file.read(path_of(pid), MAX_BYTES) or "")
  return ok and type(data) == "table" and data.status == "waiting"
end

---Reads what the CLI with this process id says.
---@param pid integer
---@return claude-code.CliFile? entry
---@return boolean is_gone neither: it is being written, or of another format
function M.read(pid)
  local content = regular_file.read(path_of(pid), MAX_BYTES)
  return content and M.parse(pid, content) or nil, not content and not uv.fs_stat(path_of(pid))
end

---@return integer[] pids of the CLIs that have a file
function M.pids()
  local pids = {}
  for name in vim.iter(vim.fs.dir(sessions_folder())):take(MAX_FILES) do
    pids[#pids + 1] = tonumber(name:match("^([1-9]%d*)%.json$"))
  end
  return pids
end

---Calls back whenever the file of a CLI may have changed.
---@param callback fun(pid?: integer) in the main loop; nil: any
---@return (fun())? cancel nil if there is no such folder yet
function M.watch(callback)
  local handle = uv.fs_stat(sessions_folder()) and uv.new_fs_event()
  if not handle then
    return nil
  end
  local started = handle:start(sessions_folder(), {}, function(_, name)
    local pid = tonumber((name or ""):match("^([1-9]%d*)%.json"))
    if pid or not name then
      vim.schedule(function()
        callback(pid)
      end)
    end
  end)
  if not started then
    handle:close()
    return require("claude-code.lib.timer").every(LOOK_MS, callback)
  end
  return function()
    handle:close()
  end
end

return M
