--- Long work, a slice at a time, so that Neovim answers keys in between.
local timer = require("claude-code.timer")

---The work may go on for so long without a pause.
local SLICE_MS = 10
---In that time keys are read.
local PAUSE_MS = 1

local M = {}

---Runs `work`: its first slice at once. Throws what the first slice throws; what a later one throws is
---an error of Neovim's main loop.
---@param work fun(pause: fun(always?: boolean)) calls `pause` wherever it may be interrupted; `always`:
--- also if the slice is still short, because what follows is long and cannot be interrupted
---@return fun() stop the rest is not done
function M.run(work)
  local is_stopped, began = false, 0
  local thread = coroutine.create(work)
  local function pause(always)
    if always or vim.uv.hrtime() - began > SLICE_MS * 1e6 then
      coroutine.yield()
    end
  end
  local function slice()
    if is_stopped then
      return
    end
    began = vim.uv.hrtime()
    local ok, message = coroutine.resume(thread, pause)
    if not ok then
      error(message, 0)
    elseif coroutine.status(thread) ~= "dead" then
      timer.once(PAUSE_MS, slice)
    end
  end
  slice()
  return function()
    is_stopped = true
  end
end

---Goes once through Lua's garbage. Where there is much, Lua does so in the middle of a later allocation,
---for up to 40 ms at once.
function M.collect_garbage()
  M.run(function(pause)
    pause(true)
    while not collectgarbage("step", 0) do
      pause()
    end
  end)
end

return M
