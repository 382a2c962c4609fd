--- A run of the executable as the server, and messages for one that fails. It reads a launch line from its stdin, and
--- exits when its stdin ends.
local executable = require("claude-code.install.executable")

local M = {}

--- In bytes.
local MAX_STDERR = 4096

--- Exit codes for start options and for a contract that the executable does not support.
local MISMATCHES = { [2] = true, [3] = true }

---@class claude-code.Process
---@field pid integer
---@field private binary claude-code.Binary
---@field private stderr string the end of its output
---@field private code? integer of its exit; nil while it runs
---@field private signal? integer that ended it; 0 without one
---@field private handle uv.uv_process_t
---@field private stdin uv.uv_pipe_t
local Process = {}
Process.__index = Process

--- The interval of Bun's garbage collector. With its default an idle process wakes up 13 times a second.
local GC_TIMER_MS = 10000

local function remedy(binary)
  return require("claude-code.install").remedy(binary.source)
end

---@param address string socket of this Neovim
---@param on_exit fun() called in the main loop, once
---@return claude-code.Process?, string? message with the remedy first, since a narrow screen cuts off the end
function M.spawn(binary, address, on_exit)
  local stdin, stderr = assert(vim.uv.new_pipe()), assert(vim.uv.new_pipe())
  local env = executable.environment()
  env.NVIM = address
  env.BUN_GC_TIMER_INTERVAL = env.BUN_GC_TIMER_INTERVAL or tostring(GC_TIMER_MS)
  env.CLAUDE_CONFIG_DIR = require("claude-code.claude.cli").config_dir()
  local process = setmetatable({ binary = binary, stderr = "", stdin = stdin }, Process)
  local handle, pid = vim.uv.spawn(binary.path, {
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
    process.code, process.signal = code, signal
    vim.schedule(on_exit)
  end)
  if not handle then
    stdin:close()
    stderr:close()
    local text = "the executable does not run: %s, then :Claude (%s: %s)"
    return nil, text:format(remedy(binary), binary.path, pid)
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
  if not self.code then
    self.handle:kill("sigkill")
  end
end

--- Waits for its end, and answers its requests until then.
---@return boolean ended
function Process:wait(timeout_ms)
  return (vim.wait(timeout_ms, function()
    return self.code ~= nil
  end, 2))
end

function M.not_ready(binary, seconds)
  local text = "the executable has not answered for %d s: wait, or %s and restart Neovim (%s)"
  return text:format(seconds, remedy(binary), binary.path)
end

---@private
function Process:cause()
  return self.signal ~= 0 and "signal " .. self.signal or "exit code " .. self.code
end

function Process:log_end()
  local log = require("claude-code.messages.log")
  log.warn("the executable ended: %s", self:cause())
  for _, line in ipairs(self:last_words()) do
    log.warn("its stderr: %s", line)
  end
end

---@return string? message if it ended because it does not fit the plugin
function Process:mismatch()
  if not MISMATCHES[self.code] then
    return nil
  end
  local loaded = require("claude-code.install.contract")
  local disk = require("claude-code.install.release").contract()
  local is_upgraded = disk.version ~= loaded.version or disk.number ~= loaded.number
  local what_to_do = is_upgraded and "restart Neovim, the plugin was upgraded to " .. disk.version
    or remedy(self.binary) .. ", then :Claude"
  local words = self:last_words()
  local details = table.concat({ self.binary.path, words[#words] }, ": ")
  return ("the executable does not fit the plugin: %s (%s)"):format(what_to_do, details)
end

function Process:crash()
  local words = self:last_words()
  local reason = words[#words] and words[#words] .. ": " or ""
  local text = "%sthe executable ended (%s): read :Claude log (%s), then :Claude%s (%s)"
  local log = require("claude-code.messages.log").path()
  -- A power cut may have damaged the file.
  local again = self.binary.source == "managed"
      and "; if it is damaged, :Claude install! replaces it"
    or ""
  return text:format(reason, self:cause(), log, again, self.binary.path)
end

return M
