--- Records when Neovim's event loop stood still: a timer due every millisecond, and how late it came.
--- Also the processor time of Neovim in that time, which other programs on the machine cannot spoil.
local uv = vim.uv

---Shorter pauses are the system's own, in ms.
local NOTICED_MS = 5

local M = {}

local timer, last, longest, sum, count
local cpu_before, started

---@return number ms
local function cpu_ms()
  local usage = assert(uv.getrusage())
  local function ms(time)
    return time.sec * 1000 + time.usec / 1000
  end
  return ms(usage.utime) + ms(usage.stime)
end

local function tick()
  local now = uv.hrtime()
  local gap = (now - last) / 1e6
  last = now
  if gap >= NOTICED_MS then
    longest = math.max(longest, gap)
    sum = sum + gap - 1
    count = count + 1
  end
end

function M.start()
  longest, sum, count = 0, 0, 0
  cpu_before, started = cpu_ms(), uv.hrtime()
  last = started
  timer = assert(uv.new_timer())
  timer:start(1, 1, tick)
end

---@return { longest: number, sum: number, count: integer, cpu: number, wall: number } in ms
function M.stop()
  tick()
  timer:stop()
  timer:close()
  return {
    longest = longest,
    sum = sum,
    count = count,
    cpu = cpu_ms() - cpu_before,
    wall = (uv.hrtime() - started) / 1e6,
  }
end

return M
