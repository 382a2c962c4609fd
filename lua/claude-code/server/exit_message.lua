--- What the user reads when the executable did not start, or ended: what happened and what to do
--- first, since a message line may have room for no more; then the details.
local M = {}

--- Exit codes of an executable that refuses its start options, and another contract.
M.MISMATCHES = { [2] = true, [3] = true }

---@class claude-code.Ending
---@field binary claude-code.Binary
---@field stderr string[]
---@field code integer
---@field signal integer 0 unless one ended it

local function cause(ending)
  if ending.signal ~= 0 then
    return ("signal %d"):format(ending.signal)
  end
  return ("exit code %d"):format(ending.code)
end

local function details(ending)
  local line = ending.stderr[#ending.stderr]
  return line and ("%s: %s"):format(ending.binary.path, line) or ending.binary.path
end

local function remedy(binary)
  return require("claude-code.install.locate").remedy(binary.source) .. ", then :Claude"
end

---@param binary claude-code.Binary
---@param reason string the system's
---@return string
function M.not_spawned(binary, reason)
  local text = "the executable does not run: %s (%s: %s)"
  return text:format(remedy(binary), binary.path, reason)
end

---@param binary claude-code.Binary
---@param seconds number
---@return string
function M.not_ready(binary, seconds)
  local text = "the executable has not answered for %d s: wait, or %s and restart Neovim (%s)"
  local what_to_do = require("claude-code.install.locate").remedy(binary.source)
  return text:format(seconds, what_to_do, binary.path)
end

---@param reason string Neovim's
---@return string
function M.not_reachable(reason)
  local text = "Neovim could not open an RPC socket: make sure that $XDG_RUNTIME_DIR or $TMPDIR names "
    .. "a folder, then restart Neovim (%s)"
  return text:format(reason)
end

---@param ending claude-code.Ending
---@return string
function M.crash(ending)
  -- The reason first: a line of the screen has room for little more.
  local reason = ending.stderr[#ending.stderr]
  local text = (reason and reason:gsub("%%", "%%%%") .. ": " or "")
    .. "the executable ended (%s): read :Claude log (%s), then :Claude%s (%s)"
  local log = require("claude-code.messages.log").path()
  -- A power cut may have damaged it.
  local again = ending.binary.source == "managed"
      and "; if it is damaged, :Claude install! replaces it"
    or ""
  return text:format(cause(ending), log, again, ending.binary.path)
end

--- Nil unless the plugin's files are those of another version than Neovim has loaded.
local function upgraded_to()
  local loaded = require("claude-code.install.contract")
  local disk = require("claude-code.install.release").contract()
  if disk.version ~= loaded.version or disk.number ~= loaded.number then
    return disk.version
  end
end

--- It refuses the plugin's contract, or its start options: which, is in what it has written.
---@param ending claude-code.Ending
---@return string
function M.mismatch(ending)
  local upgraded = upgraded_to()
  local what_to_do = upgraded and ("restart Neovim, the plugin was upgraded to %s"):format(upgraded)
    or remedy(ending.binary)
  local text = "the executable does not fit the plugin: %s (%s)"
  return text:format(what_to_do, details(ending))
end

---@param ending claude-code.Ending
function M.log(ending)
  local log = require("claude-code.messages.log")
  log.warn("the executable ended by itself: %s", cause(ending))
  for _, line in ipairs(ending.stderr) do
    log.warn("its stderr: %s", line)
  end
end

return M
