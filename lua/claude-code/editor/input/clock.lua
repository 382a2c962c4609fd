--- The time by which pauses in typing are measured. Tests replace both functions.
local uv = vim.uv

local M = {}

---@return number ms since some point in time
function M.now()
  return uv.hrtime() / 1e6
end

---Calls once, on the main loop, after so many ms.
---@param ms number
---@param callback fun()
---@return fun() cancel
function M.after(ms, callback)
  local timer = assert(uv.new_timer())
  local function cancel()
    if not timer:is_closing() then
      timer:close()
    end
  end
  local run = vim.schedule_wrap(function()
    if not timer:is_closing() then
      cancel()
      callback()
    end
  end)
  timer:start(math.ceil(ms), 0, run)
  return cancel
end

return M
