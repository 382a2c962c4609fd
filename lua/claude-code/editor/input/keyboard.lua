--- When the user typed last, in any mode and window. The mouse, and programs that feed keys, do not count.
local uv = vim.uv

local NAMESPACE = vim.api.nvim_create_namespace("claude-code.keyboard")

---The names of the mouse's "keys" contain these.
local POINTER = { "Mouse", "ScrollWheel", "Drag", "Release" }

local M = {
  --- Without a key for this long, in ms, the user is not typing.
  QUIET_MS = 400,
}

local last ---@type number? when, by `now`
local seen ---@type number? the same, also for keys that were meant for us

---Keys without a pause between them: when the first was typed, and when the last one before them was. <Esc> does not
---count there, as it is typed out of habit.
local run = { began = 0 } ---@type { began: number, before: number?, last: number? }

---Tests replace this clock.
---@return number ms since some point in time
function M.now()
  return uv.hrtime() / 1e6
end

---Tests replace this, too.
---@param ms number
---@param callback fun()
---@return fun() cancel
function M.after(ms, callback)
  return require("claude-code.lib.timer").once(ms, callback)
end

local function is_pointer(typed)
  -- Special keys start with this byte.
  if typed:byte() ~= 0x80 then
    return false
  end
  local name = vim.fn.keytrans(typed)
  return vim.iter(POINTER):any(function(part)
    return name:find(part, 1, true) ~= nil
  end)
end

local function unfollow()
  vim.on_key(nil, NAMESPACE)
  last, run = nil, { began = 0 }
end

local function note(is_escape)
  local now = M.now()
  if M.idle_ms() >= M.QUIET_MS then
    run = { began = now, before = run.last, last = run.last }
  end
  run.last = is_escape and run.last or now
  last, seen = now, now
end

---Begins to note when keys are typed, until the executable detaches.
function M.follow()
  require("claude-code.server.channel").on_detach(unfollow)
  vim.on_key(function(_, typed)
    if typed and typed ~= "" and not is_pointer(typed) then
      note(typed == "\27")
    end
  end, NAMESPACE)
end

---@return number ms since the last key
function M.idle_ms()
  return last and M.now() - last or math.huge
end

---@return number began when the first key of the last ones without a pause was typed; after a pause, now
---@return number before when the last key before them was typed, <Esc> aside
function M.last_burst()
  if M.idle_ms() >= M.QUIET_MS then
    return M.now(), run.last or -math.huge
  end
  return run.began, run.before or -math.huge
end

---@return number ms since the user has typed anything
function M.away_ms()
  return seen and M.now() - seen or math.huge
end

---The last key was meant for us: the user is not in the middle of typing something else.
function M.reset()
  last = nil
end

---Calls once, after no key was typed for so long, counted from now at the earliest.
---@param ms integer
---@param callback fun()
---@return fun() cancel
function M.after_idle(ms, callback)
  local since = M.now()
  local cancel
  local function check()
    local missing = ms - math.min(M.idle_ms(), M.now() - since)
    if missing > 0 then
      cancel = M.after(missing, check)
    else
      callback()
    end
  end
  cancel = M.after(ms, check)
  return function()
    cancel()
  end
end

return M
