--- One run of the executable as the server. It reads a launch line from its stdin, which stays open: the end of stdin
--- shows it that Neovim is gone.
local executable = require("claude-code.install.executable")

local M = {}

--- In bytes.
local MAX_STDERR = 4096

---@class claude-code.Process
---@field pid integer
---@field private stderr string the end of its output there
---@field private ended? boolean
---@field private handle uv.uv_process_t
---@field private stdin uv.uv_pipe_t
local Process = {}
Process.__index = Process

---@class claude-code.ServerLaunch
---@field path string the executable
---@field address string the socket on which this Neovim answers
---@field on_exit fun(code: integer, signal: integer) called in the main loop, once

--- The interval of the executable's garbage collector, which Bun reads at its start. Bun's default wakes an idle
--- process 13 times a second.
local GC_TIMER_MS = 10000

--- Starts a process, which loads and then waits for its launch line.
---@param launch claude-code.ServerLaunch
---@return claude-code.Process?
---@return string? message
function M.spawn(launch)
  local windows = vim.fn.has("win32") == 1
  local stdin, stderr = assert(vim.uv.new_pipe()), assert(vim.uv.new_pipe())
  local env = executable.environment()
  env.NVIM = launch.address
  env.BUN_GC_TIMER_INTERVAL = env.BUN_GC_TIMER_INTERVAL or tostring(GC_TIMER_MS)
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude.cli").config_dir()
  local process = setmetatable({ stderr = "", stdin = stdin }, Process)
  local handle, pid = vim.uv.spawn(launch.path, {
    args = { "serve" },
    env = executable.as_list(env),
    cwd = require("claude-code.programs").NEUTRAL_FOLDER,
    stdio = { stdin, nil, stderr },
    -- A session of its own keeps Ctrl-Z and Ctrl-C in Neovim's terminal from it.
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
  -- libuv reports signals last, so all output is read before on_exit.
  stderr:read_start(function(err, data)
    if err or not data then
      return stderr:close()
    end
    process.stderr = (process.stderr .. data):sub(-MAX_STDERR)
  end)
  return process
end

---@param line string without a line end
function Process:launch(line)
  self.stdin:write(line .. "\n")
end

---@return string[] lines at the end of stderr
function Process:last_words()
  return vim.split(self.stderr, "\r?\n", { trimempty = true })
end

--- Closes its stdin: the executable then cleans up and exits.
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

--- Waits for its end; Neovim answers its requests in the meantime.
---@param timeout_ms integer
---@return boolean ended
function Process:wait(timeout_ms)
  return (vim.wait(timeout_ms, function()
    return self.ended == true
  end, 2))
end

return M
