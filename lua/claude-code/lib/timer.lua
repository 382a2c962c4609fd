--- Timers with callbacks in Neovim's main loop. A cancelled timer does not call back. All times are in ms.
local uv = vim.uv

local M = {}

---@return fun(ms: number, interval?: integer) start or restart
---@return fun() cancel may be called again
local function new(callback)
  local handle = assert(uv.new_timer())
  local run = vim.schedule_wrap(function()
    if handle:is_closing() then
      return
    end
    -- An active timer without an interval was restarted after it fired.
    if handle:get_repeat() > 0 or not handle:is_active() then
      callback()
    end
  end)
  local function start(ms, interval)
    if not handle:is_closing() then
      handle:start(math.max(0, math.ceil(ms)), interval or 0, run)
    end
  end
  local function cancel()
    if not handle:is_closing() then
      handle:close()
    end
  end
  return start, cancel
end

---@return fun() cancel
function M.once(ms, callback)
  local start, cancel
  start, cancel = new(function()
    cancel()
    callback()
  end)
  start(ms)
  return cancel
end

---@return fun() cancel
function M.every(ms, callback)
  local start, cancel = new(callback)
  start(ms, ms)
  return cancel
end

---Calls back when `ms` have passed since the last `trigger`.
---@return fun() trigger, fun() cancel
function M.debounce(ms, callback)
  local start, cancel = new(callback)
  return function()
    start(ms)
  end, cancel
end

---Calls back `min_ms` after the first `trigger`, and ignores others until then. An expensive callback extends the pause
---up to `max_ms`, to take at most `share` of the time.
---@param limits { min_ms: number, max_ms: number, share: number }
---@return fun() trigger, fun() cancel
function M.throttle(limits, callback)
  local pause, is_due = limits.min_ms, false
  local start, cancel = new(function()
    local started = uv.hrtime()
    is_due = false
    callback()
    local cost = (uv.hrtime() - started) / 1e6
    pause = math.min(math.max(limits.min_ms, cost / limits.share), limits.max_ms)
  end)
  return function()
    if not is_due then
      is_due = true
      start(pause)
    end
  end,
    cancel
end

---Remembers answers until the next turn of Neovim's main loop.
---@param ask fun(key: string): boolean
---@return fun(key: string): boolean
function M.remembered(ask)
  local answers ---@type table<string, boolean>?
  return function(key)
    if not answers then
      answers = {}
      vim.schedule(function()
        answers = nil
      end)
    end
    if answers[key] == nil then
      answers[key] = ask(key)
    end
    return answers[key]
  end
end

return M
