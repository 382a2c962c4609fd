--- Messages for an executable that did not start, or ended. The remedy comes first, since a narrow screen cuts off the
--- end.
local M = {}

--- Exit codes for start options and for a contract that the executable does not support.
M.MISMATCHES = { [2] = true, [3] = true }

---@class claude-code.Ending
---@field binary claude-code.Binary
---@field stderr string[]
---@field code integer
---@field signal integer 0 without one

local function cause(ending)
  local is_signal = ending.signal ~= 0
  return is_signal and "signal " .. ending.signal or "exit code " .. ending.code
end

local function remedy(binary)
  return require("claude-code.install").remedy(binary.source)
end

---@param reason string the system's
function M.not_spawned(binary, reason)
  local text = "the executable does not run: %s, then :Claude (%s: %s)"
  return text:format(remedy(binary), binary.path, reason)
end

function M.not_ready(binary, seconds)
  local text = "the executable has not answered for %d s: wait, or %s and restart Neovim (%s)"
  return text:format(seconds, remedy(binary), binary.path)
end

---@param reason string Neovim's
function M.not_reachable(reason)
  local text = "Neovim could not open an RPC socket: make sure that $XDG_RUNTIME_DIR or $TMPDIR names "
    .. "a folder with a short path, then restart Neovim (%s)"
  return text:format(reason)
end

---@param ending claude-code.Ending
function M.crash(ending)
  local reason = ending.stderr[#ending.stderr]
  local text = (reason and reason:gsub("%%", "%%%%") .. ": " or "")
    .. "the executable ended (%s): read :Claude log (%s), then :Claude%s (%s)"
  local log = require("claude-code.messages.log").path()
  -- A power cut may have damaged the file.
  local again = ending.binary.source == "managed"
      and "; if it is damaged, :Claude install! replaces it"
    or ""
  return text:format(cause(ending), log, again, ending.binary.path)
end

function M.mismatch(ending)
  local loaded = require("claude-code.install.contract")
  local disk = require("claude-code.install.release").contract()
  local is_upgraded = disk.version ~= loaded.version or disk.number ~= loaded.number
  local what_to_do = is_upgraded and "restart Neovim, the plugin was upgraded to " .. disk.version
    or remedy(ending.binary) .. ", then :Claude"
  local line = ending.stderr[#ending.stderr]
  local details = ending.binary.path .. (line and ": " .. line or "")
  return ("the executable does not fit the plugin: %s (%s)"):format(what_to_do, details)
end

function M.log(ending)
  local log = require("claude-code.messages.log")
  log.warn("the executable ended: %s", cause(ending))
  for _, line in ipairs(ending.stderr) do
    log.warn("its stderr: %s", line)
  end
end

return M
