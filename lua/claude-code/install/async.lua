--- Functions that wait for programs and files, written from top to bottom, while Neovim goes on.
local autocommands = require("claude-code.lib.autocommands")
local timer = require("claude-code.lib.timer")

local M = {}

---@type table<thread, fun(value: any, message: string?)>
local callbacks = setmetatable({}, { __mode = "k" })
---@type table<vim.SystemObj, true>
local programs = {}

---@param thread thread
local function step(thread, ...)
  local ok, value, message = coroutine.resume(thread, ...)
  if not ok then
    callbacks[thread](nil, debug.traceback(thread, tostring(value)))
  elseif coroutine.status(thread) == "dead" then
    callbacks[thread](value, message)
  end
end

--- Runs `body`, which may wait by the functions below; it returns a value, or nil and a message.
---@param body fun(): any, string?
---@param callback fun(value: any, message: string?) called in the main loop
function M.run(body, callback)
  local thread = coroutine.create(body)
  callbacks[thread] = vim.schedule_wrap(callback)
  step(thread)
end

--- Waits until `start` has called the function that it is given; returns what that was given.
---@param start fun(done: fun(...))
---@return any ...
function M.await(start)
  local thread = assert(coroutine.running())
  start(vim.schedule_wrap(function(...)
    step(thread, ...)
  end))
  return coroutine.yield()
end

---@param ms integer
function M.sleep(ms)
  M.await(function(done)
    timer.once(ms, done)
  end)
end

--- Kills what `M.system` has started.
function M.kill_programs()
  for program in pairs(programs) do
    program:kill("sigkill")
  end
end

--- Runs a program to its end. One that cannot be started has the code -1.
---@param command string[]
---@param cwd string
---@return { code: integer, stdout: string, stderr: string } code 128 and more: killed
function M.system(command, cwd)
  return M.await(function(done)
    local program
    local ok, failure = pcall(function()
      program = vim.system(command, { text = true, cwd = cwd }, function(result)
        programs[program] = nil
        -- A program that was killed has the code 0.
        local code = result.code == 0 and result.signal ~= 0 and 128 + result.signal or result.code
        done({ code = code, stdout = result.stdout or "", stderr = result.stderr or "" })
      end)
    end)
    if ok then
      programs[program] = true
      -- One that still runs when Neovim has ended would write into files that nobody uses.
      autocommands.new("install"):on("VimLeavePre", M.kill_programs)
    else
      done({ code = -1, stdout = "", stderr = tostring(failure) })
    end
  end)
end

return M
