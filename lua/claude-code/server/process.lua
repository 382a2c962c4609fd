--- A run of the executable as the server. It reads a launch line from its stdin, and exits when its stdin ends.
local executable = require("claude-code.install.executable")

local M = {}

--- In bytes.
local MAX_STDERR = 4096

---@class claude-code.Process
---@field pid integer
---@field private stderr string the end of its output
---@field private ended? boolean
---@field private handle uv.uv_process_t
---@field private stdin uv.uv_pipe_t
local Process = {}
Process.__index = Process

---@class claude-code.ServerLaunch
---@field path string the executable
---@field address string socket of this Neovim
---@field on_exit fun(code: integer, signal: integer) called in the main loop, once

--- The interval of Bun's garbage collector. With its default an idle process wakes up 13 times a second.
local GC_TIMER_MS = 10000

---@return claude-code.Process?, string? message
function M.spawn(launch)
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
    -- Ctrl-Z and Ctrl-C in Neovim's terminal do not reach another process group.
    detached = not require("claude-code.lib.platform").is_windows,
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

--- Closes its stdin, at which the executable cleans up and exits.
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

--- Waits for its end, and answers its requests until then.
---@return boolean ended
function Process:wait(timeout_ms)
  return (vim.wait(timeout_ms, function()
    return self.ended == true
  end, 2))
end

return M
