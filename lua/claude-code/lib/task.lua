--- Coroutines for work that waits for the executable, language servers or the user. Work for the executable has a
--- deadline and can be cancelled.
local uv = vim.uv
local timer = require("claude-code.lib.timer")

---Between slices of work, Neovim reads keys.
local SLICE_MS, PAUSE_MS = 5, 1

local M = {}

---@class claude-code.Task
---@field slice number start of the current slice, in ns
---@field is_over boolean
---@field resume fun(thread: thread): boolean, any
---@field cancel_wait fun() ends the work that it waits for
---@field finish fun(answer?: claude-code.Answer)

---@type table<thread, claude-code.Task>
local tasks = setmetatable({}, { __mode = "k" })
local started = {} ---@type table<string, claude-code.Task> by channel and id

local function nothing() end

local function current()
  local thread = coroutine.running()
  return assert(thread and tasks[thread], "this runs in a task only")
end

local function step(thread)
  local task = tasks[thread]
  task.slice = uv.hrtime()
  local ok, answer = task.resume(thread)
  if not ok then
    task.finish({ error = { code = "defect", message = tostring(answer) } })
  elseif coroutine.status(thread) == "dead" then
    task.finish(answer)
  end
end

---Waits in a task until `begin` or its work calls `done`.
---@param begin fun(done: fun(...)): fun()? may return a function that cancels the work
---@return any ... arguments of `done`
function M.await(begin)
  local task, thread = current(), coroutine.running() --[[@as thread]]
  local results, is_waiting ---@type table?, boolean
  local function done(...)
    if results or task.is_over then
      return
    end
    results = { n = select("#", ...), ... }
    if is_waiting then
      step(thread)
    end
  end
  task.cancel_wait = begin(done) or nothing
  if not results then
    is_waiting = true
    coroutine.yield()
  end
  task.cancel_wait = nothing
  return unpack(results, 1, results.n)
end

function M.sleep(ms)
  M.await(function(done)
    return timer.once(ms, done)
  end)
end

---@param ms number at most
---@return boolean is_met
function M.wait_for(test, ms)
  local limit = uv.now() + ms
  local is_met = test()
  while not is_met and uv.now() < limit do
    M.sleep(math.min(25, limit - uv.now()))
    is_met = test()
  end
  return is_met
end

---Lets Neovim do other things if the current slice is over.
function M.breathe()
  if (uv.hrtime() - current().slice) / 1e6 > SLICE_MS then
    -- A timer starts at libuv's cached time, which precedes the slice.
    uv.update_time()
    M.sleep(PAUSE_MS)
  end
end

---@param ... any for string.format()
---@return nil, claude-code.Failure
function M.fail(code, text, ...)
  return nil, { code = code, message = text:format(...) }
end

---Runs work in a task, and returns at its first wait.
---@param done? fun(problem?: string) called at the end; without it an error of the work is thrown
function M.run(work, done)
  local thread = coroutine.create(function()
    work()
  end)
  local task = { slice = 0, is_over = false, resume = coroutine.resume, cancel_wait = nothing }
  function task.finish(failure)
    local problem = failure and failure.error.message
    if done then
      done(problem)
    elseif problem then
      error(problem, 0)
    end
  end
  tasks[thread] = task
  step(thread)
end

local function key_of(params)
  return params.channel .. ":" .. params.id
end

---@class claude-code.TaskParams
---@field channel integer of the executable
---@field id integer the executable's number for this task
---@field timeout_ms integer

---Neovim must answer an RPC request at once, so a late answer is a notification.
---@param work fun(): claude-code.Answer
---@param resume fun(thread: thread): boolean, any like coroutine.resume(), for each step
---@return { answer?: claude-code.Answer } empty if the answer follows as the notification "settled"
function M.start(params, work, resume)
  local key = key_of(params)
  local cancel_deadline, answer_now, is_late = nothing, nil, false
  local task = { slice = 0, is_over = false }
  task.cancel_wait, task.resume = nothing, resume
  function task.finish(answer)
    if task.is_over then
      return
    end
    task.is_over, started[key] = true, nil
    cancel_deadline()
    task.cancel_wait()
    answer_now = answer
    if answer and is_late then
      local payload = { id = params.id, answer = answer }
      pcall(vim.rpcnotify, params.channel, "claude_code", "settled", payload)
    end
  end
  local thread = coroutine.create(work)
  tasks[thread], started[key] = task, task
  cancel_deadline = timer.once(params.timeout_ms, function()
    local text = "No answer within %g s: a language server hangs or works on something long. "
      .. "Ask again in 10 s, or use Grep."
    local message = text:format(params.timeout_ms / 1000)
    task.finish({ error = { code = "late", message = message } })
  end)
  step(thread)
  is_late = true
  return { answer = answer_now }
end

---@param params { channel: integer, id: integer }
function M.cancel(params)
  local task = started[key_of(params)]
  if task then
    task.finish(nil)
  end
end

return M
