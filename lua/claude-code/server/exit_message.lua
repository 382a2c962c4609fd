--- What to tell a person when the executable ended: what happened, to what, and what to do.
local M = {}

M.EXIT_USAGE, M.EXIT_CONTRACT = 2, 3

---@class claude-code.Ending
---@field binary claude-code.Binary
---@field stderr string[]
---@field code integer
---@field signal integer 0 unless one ended it
---@field times integer how often it ended lately

---@param ending claude-code.Ending
---@return string
function M.cause(ending)
  if ending.signal ~= 0 then
    return ("signal %d"):format(ending.signal)
  end
  return ("exit code %d"):format(ending.code)
end

---@param ending claude-code.Ending
---@return string
local function last_words(ending)
  local line = ending.stderr[#ending.stderr]
  return line and (" It said: %s."):format((line:gsub("%.$", ""))) or ""
end

---@param binary claude-code.Binary
---@return string
local function remedy(binary)
  return require("claude-code.install.locate").remedy(binary.source)
end

---@param binary claude-code.Binary
---@param reason string the system's
---@return string
function M.not_spawned(binary, reason)
  local text = "the executable %s cannot be run: %s; %s, then :ClaudeCodeStart"
  return text:format(binary.path, reason, remedy(binary))
end

---@param reason string Neovim's
---@return string
function M.not_reachable(reason)
  local text = "Neovim opens no socket on which it could be reached: %s; is there the folder "
    .. "$XDG_RUNTIME_DIR (%s)? Then :ClaudeCodeStart"
  return text:format(reason, vim.env.XDG_RUNTIME_DIR or "not set")
end

---@param ending claude-code.Ending
---@return string
function M.refused(ending)
  local text = "the executable %s did not accept how it was started.%s To mend it, %s, then "
    .. ":ClaudeCodeStart"
  return text:format(ending.binary.path, last_words(ending), remedy(ending.binary))
end

---@param ending claude-code.Ending
---@return string
function M.crash_loop(ending)
  local text = "the executable %s ended %d times in a row (%s) and is not started again.%s "
    .. "See :ClaudeCodeLog (%s); :ClaudeCodeStart tries anew"
  local log = require("claude-code.messages.log").path()
  local cause = M.cause(ending)
  return text:format(ending.binary.path, ending.times, cause, last_words(ending), log)
end

--- The plugin's files are those of another version than what this Neovim has loaded.
---@return string? version
local function upgraded_to()
  local ours = require("claude-code.server.contract")
  local disk = require("claude-code.install.plugin_files").contract()
  if disk.version ~= ours.version or disk.number ~= ours.number then
    return disk.version
  end
end

---@param binary claude-code.Binary
---@param version? string the executable's
---@return string
function M.mismatch(binary, version)
  local text = "the executable %s has version %s and the plugin version %s, which do not fit "
    .. "together; %s"
  local ours = require("claude-code.server.contract").version
  local upgraded = upgraded_to()
  local mend = remedy(binary) .. ", then :ClaudeCodeStart"
  if upgraded then
    mend = ("the plugin was upgraded to %s meanwhile: restart Neovim"):format(upgraded)
  end
  return text:format(binary.path, version or "unknown", ours, mend)
end

--- Writes how the executable ended to the log.
---@param ending claude-code.Ending
function M.log(ending)
  local log = require("claude-code.messages.log")
  log.warn("the executable ended by itself: %s", M.cause(ending))
  for _, line in ipairs(ending.stderr) do
    log.warn("its stderr: %s", line)
  end
end

return M
