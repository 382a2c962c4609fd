--- Waits for a CLI that has just been started. What it gets before it shows its prompt keeps its text and loses its
--- Enter, and what it asks first, as whether its user trusts the folder, loses both (measured with 2.1.330).
local timer = require("claude-code.lib.timer")

local M = {}

--- It says that it asks something a moment after it has drawn the question.
local SETTLE_MS = 100
--- A program that draws nothing gets it all the same, after 10 s.
local TRIES = 100

---@type table<claude-code.Terminal, (fun(waited: boolean))[]> what waits
local waiting = {}

---@param terminal claude-code.Terminal
local function has_drawn(terminal)
  return not terminal.has_drawn or terminal:has_drawn()
end

---@param terminal claude-code.Terminal
---@param tries integer
local function wait(terminal, tries)
  local is_over = tries == 0 or not terminal:is_open() or has_drawn(terminal)
  timer.once(SETTLE_MS, function()
    if not is_over then
      return wait(terminal, tries - 1)
    end
    local callbacks = waiting[terminal]
    waiting[terminal] = nil
    for _, callback in ipairs(callbacks) do
      callback(true)
    end
  end)
end

--- Calls back once the terminal shows something, or has ended: at once if it does, and in the order of the calls.
---@param terminal claude-code.Terminal
---@param callback fun(waited: boolean)
function M.when(terminal, callback)
  if waiting[terminal] then
    table.insert(waiting[terminal], callback)
  elseif has_drawn(terminal) then
    callback(false)
  else
    waiting[terminal] = { callback }
    wait(terminal, TRIES)
  end
end

return M
