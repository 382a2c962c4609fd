--- Waits for a CLI that has just been started. What it gets before it shows its prompt keeps its text and loses its
--- Enter, and what it asks first, as whether its user trusts the folder, loses both (measured with 2.1.330).
local api = vim.api
local timer = require("claude-code.lib.timer")

local M = {}

--- It says that it asks something a moment after it has drawn the question.
local SETTLE_MS = 100
--- A program that draws nothing gets it all the same, after 10 s.
local TRIES = 100

---@type table<integer, (fun())[]> what waits, by the session's number; 0: for one that is about to start
local waiting = {}

local function is_about_to_start()
  return require("claude-code.terminal.start").is_waiting()
end

---@param n integer
---@return boolean has it drawn something? True where that cannot be known, too
local function has_drawn(n)
  n = n > 0 and n or require("claude-code.terminal.running").current() or 0
  local row = require("claude-code.sessions").get(n)
  local buf = row and row.buf
  if not buf or not api.nvim_buf_is_valid(buf) then
    return n > 0 or not is_about_to_start()
  end
  return vim.iter(api.nvim_buf_get_lines(buf, 0, vim.o.lines, false)):any(function(line)
    return line:find("%S") ~= nil
  end)
end

---@param n integer
---@param tries integer
local function wait(n, tries)
  local is_over = tries == 0 or has_drawn(n)
  timer.once(SETTLE_MS, function()
    if not is_over then
      return wait(n, is_about_to_start() and tries or tries - 1)
    end
    local callbacks = waiting[n]
    waiting[n] = nil
    for _, callback in ipairs(callbacks) do
      callback()
    end
  end)
end

--- Runs `callback` once the CLI shows something, at once if it does; one after the other.
---@param n? integer the session; nil: none runs, but one may be about to start
---@param callback fun()
function M.when(n, callback)
  n = n or 0
  if waiting[n] then
    table.insert(waiting[n], callback)
  elseif not has_drawn(n) then
    waiting[n] = { callback }
    wait(n, TRIES)
  else
    callback()
  end
end

return M
