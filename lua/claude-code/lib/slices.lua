--- Long work, a slice at a time, so that Neovim answers keys in between.
local timer = require("claude-code.lib.timer")

---The work may go on for so long without a pause.
local SLICE_MS = 10
---In that time keys are read.
local PAUSE_MS = 1

local M = {}

---Runs `work`: its first slice at once. Throws what the first slice throws; what a later one throws is
---an error of Neovim's main loop.
---@param work fun(pause: fun()) calls `pause` wherever it may be interrupted
---@param is_wanted? fun(): boolean asked after each pause; if not, the rest is not done
---@return fun() stop the rest is not done
function M.run(work, is_wanted)
  local is_stopped, began = false, 0
  local thread = coroutine.create(work)
  local function pause()
    if vim.uv.hrtime() - began > SLICE_MS * 1e6 then
      coroutine.yield()
    end
  end
  local function slice()
    if is_stopped or (began > 0 and is_wanted and not is_wanted()) then
      return
    end
    began = vim.uv.hrtime()
    local ok, message = coroutine.resume(thread, pause)
    if not ok then
      error(message, 0)
    elseif coroutine.status(thread) ~= "dead" then
      -- A timer counts from the time that libuv read last: before the slice, so there would be no pause.
      vim.uv.update_time()
      timer.once(PAUSE_MS, slice)
    end
  end
  slice()
  return function()
    is_stopped = true
  end
end

return M
