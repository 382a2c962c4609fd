--- When the user typed last, in whatever mode and window. Programs that feed keys, and the mouse, do
--- not count.
local clock = require("claude-code.editor.input.clock")

local NAMESPACE = vim.api.nvim_create_namespace("claude-code.keyboard")

---What the names of the mouse's "keys" have in them.
local POINTER = { "Mouse", "ScrollWheel", "Drag", "Release" }

local M = {}

local last ---@type number? when, by `clock.now`
local seen ---@type number? the same, whatever the key was for

---Keys without a pause between them: when the first was typed, and when the last one before, but for <Esc>, which is
---typed out of habit.
local run = { began = 0 } ---@type { began: number, before: number?, last: number? }

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
  local now = clock.now()
  if M.idle_ms() >= clock.QUIET_MS then
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
  return last and clock.now() - last or math.huge
end

---@return number began when the first key of those was typed that belong to the last one; now, after a pause
---@return number before when a key other than <Esc> was typed before them
function M.last_burst()
  if M.idle_ms() >= clock.QUIET_MS then
    return clock.now(), run.last or -math.huge
  end
  return run.began, run.before or -math.huge
end

---@return number ms since the user has typed anything
function M.away_ms()
  return seen and clock.now() - seen or math.huge
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
  local since = clock.now()
  local cancel
  local function check()
    local missing = ms - math.min(M.idle_ms(), clock.now() - since)
    if missing > 0 then
      cancel = clock.after(missing, check)
    else
      callback()
    end
  end
  cancel = clock.after(ms, check)
  return function()
    cancel()
  end
end

return M
