--- One run of the executable. It waits for a launch line on its stdin, which then stays open: by
--- stdin's end it notices that Neovim is gone.
local executable = require("claude-code.install.executable")

local M = {}

--- The end of what it writes to stderr is kept.
local MOST_STDERR = 4096

---@class claude-code.Process
---@field pid integer
---@field private stderr string the last that it wrote there
---@field on_exit? fun(code: integer, signal: integer) called in the main loop, once
---@field private ended? boolean
---@field private path string
---@field private env table<string, string>
---@field environment_changes? table<string, string|userdata> since it was spawned; vim.NIL for one
---that is gone
---@field private handle uv.uv_process_t
---@field private stdin uv.uv_pipe_t
local Process = {}
Process.__index = Process

---@class claude-code.ServerLaunch
---@field path string the executable
---@field address string the socket on which this Neovim answers
---@field on_exit? fun(code: integer, signal: integer) called in the main loop, once

--- How often the executable's garbage collector looks whether there is something to do, in ms. Bun
--- reads it as it starts; its own value wakes a process at rest 13 times a second.
local GC_TIMER_MS = 10000

---@param address string
---@return table<string, string>
local function environment_for(address)
  local env = executable.environment()
  env.NVIM = address
  env.BUN_GC_TIMER_INTERVAL = env.BUN_GC_TIMER_INTERVAL or tostring(GC_TIMER_MS)
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude.config_dir").configured()
  return env
end

--- What counts only as a process starts: for the loader, the runtime, and the runtime's os.homedir().
local AT_START = { "^HOME$", "^NVIM$", "^LD_", "^DYLD_", "^BUN_", "^MIMALLOC_" }

--- Whether a process that runs already can take over a variable from its launch line, which is JSON.
---@param value? string
local function is_adoptable(name, value)
  for _, pattern in ipairs(AT_START) do
    if name:find(pattern) then
      return false
    end
  end
  return not (name .. (value or "")):find("[\128-\255]")
end

---@param before table<string, string>
---@param now table<string, string>
---@return table<string, string|userdata>? changes nil if only a new process can take them over
local function changes_of(before, now)
  local changes = {}
  for name in pairs(vim.tbl_extend("force", before, now)) do
    if before[name] ~= now[name] then
      if not is_adoptable(name, now[name]) then
        return nil
      end
      changes[name] = now[name] or vim.NIL
    end
  end
  return changes
end

--- What it has written is read before its end is noticed: libuv looks for signals last.
---@param process claude-code.Process
---@param pipe uv.uv_pipe_t
local function collect_stderr(process, pipe)
  pipe:read_start(function(err, data)
    if err or not data then
      return pipe:close()
    end
    process.stderr = (process.stderr .. data):sub(-MOST_STDERR)
  end)
end

--- Starts one, which loads and then waits for its launch line.
---@param launch claude-code.ServerLaunch
---@return claude-code.Process?
---@return string? message
function M.spawn(launch)
  local windows = vim.fn.has("win32") == 1
  local stdin, stderr = assert(vim.uv.new_pipe()), assert(vim.uv.new_pipe())
  local env = environment_for(launch.address)
  local fields = { stderr = "", stdin = stdin, path = launch.path, env = env }
  local process = setmetatable(fields, Process)
  process.on_exit = launch.on_exit
  local handle, pid = vim.uv.spawn(launch.path, {
    args = { "serve" },
    env = executable.as_list(env),
    cwd = require("claude-code.programs").NEUTRAL_FOLDER,
    stdio = { stdin, nil, stderr },
    -- Its own session: Ctrl-Z and Ctrl-C in Neovim's terminal must not reach it.
    detached = not windows,
    hide = true,
  }, function(code, signal)
    process.handle:close()
    process:hang_up()
    process.ended = true
    if process.on_exit then
      vim.schedule_wrap(process.on_exit)(code, signal)
    end
  end)
  if not handle then
    stdin:close()
    stderr:close()
    return nil, tostring(pid)
  end
  process.handle, process.pid = handle, pid --[[@as integer]]
  collect_stderr(process, stderr)
  return process
end

--- Whether it can be what would be spawned now; from then on it knows what has changed in the
--- environment, as a plugin that loads behind ours adds to $PATH.
---@param path string
---@param address string
---@return boolean
function Process:adapt_to(path, address)
  if self.ended or self.path ~= path then
    return false
  end
  self.environment_changes = changes_of(self.env, environment_for(address))
  return self.environment_changes ~= nil
end

--- What it can do before its launch line: connect to Neovim and open a port, which lets nobody in.
---@param range { [1]: integer, [2]: integer }
function Process:prepare(range)
  self.stdin:write(('{"prepare":{"first":%d,"last":%d}}\n'):format(range[1], range[2]))
end

---@param line string the launch line, without its line end
function Process:launch(line)
  self.stdin:write(line .. "\n")
end

---@return string[] lines that it wrote to stderr last
function Process:last_words()
  return vim.split(self.stderr, "\r?\n", { trimempty = true })
end

--- Closes its stdin, upon which it cleans up and ends.
function Process:hang_up()
  if not self.stdin:is_closing() then
    self.stdin:close()
  end
end

function Process:kill()
  if not self.ended then
    self.handle:kill("sigkill")
  end
end

--- Waits for its end while Neovim goes on answering it.
---@param timeout_ms integer
---@return boolean ended
function Process:wait(timeout_ms)
  return (vim.wait(timeout_ms, function()
    return self.ended == true
  end, 2))
end

return M
