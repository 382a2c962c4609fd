--- The time by which pauses in typing are measured. Tests replace both functions, and the pause.
local uv = vim.uv

local M = {
  --- Without a key for this long, in ms, the user is not typing; a new diff takes no deciding key before.
  QUIET_MS = 400,
}

---@return number ms since some point in time
function M.now()
  return uv.hrtime() / 1e6
end

---Calls once, on the main loop, after so many ms.
---@param ms number
---@param callback fun()
---@return fun() cancel
function M.after(ms, callback)
  return require("claude-code.lib.timer").once(ms, callback)
end

return M
