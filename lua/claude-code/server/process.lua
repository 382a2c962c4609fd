--- One run of the executable. It waits for a launch line on its stdin, which then stays open: by
--- stdin's end it notices that Neovim is gone.
local executable = require("claude-code.install.executable")

local M = {}

--- The end of what it writes to stderr is kept.
local MAX_STDERR = 4096

---@class claude-code.Process
---@field pid integer
---@field private stderr string the last that it wrote there
---@field private ended? boolean
---@field private handle uv.uv_process_t
---@field private stdin uv.uv_pipe_t
local Process = {}
Process.__index = Process

---@class claude-code.ServerLaunch
---@field path string the executable
---@field address string the socket on which this Neovim answers
---@field on_exit fun(code: integer, signal: integer) called in the main loop, once

--- How often the executable's garbage collector looks whether there is something to do, in ms. Bun
--- reads it as it starts; its own value wakes a process at rest 13 times a second.
local GC_TIMER_MS = 10000

---@return table<string, string>
local function environment_for(address)
  local env = executable.environment()
  env.NVIM = address
  env.BUN_GC_TIMER_INTERVAL = env.BUN_GC_TIMER_INTERVAL or tostring(GC_TIMER_MS)
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude.cli").config_dir()
  return env
end

--- What it has written is read before its end is noticed: libuv looks for signals last.
local function collect_stderr(process, pipe)
  pipe:read_start(function(err, data)
    if err or not data then
      return pipe:close()
    end
    process.stderr = (process.stderr .. data):sub(-MAX_STDERR)
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
  local process = setmetatable({ stderr = "", stdin = stdin }, Process)
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
    vim.schedule_wrap(launch.on_exit)(code, signal)
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
