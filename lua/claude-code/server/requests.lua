--- Requests to the executable, answered by callbacks. `src/commands/neovim-requests.ts` lists the handlers of each area
--- ("review/list").
local channel = require("claude-code.server.channel")

local M = {
  ---The problem of a request after the executable has ended.
  GONE = "the executable does not run: try again in a moment, or see :Claude status",
}

---@alias claude-code.RequestCallback fun(value: any?, problem: string?, code: string?)

---@type { last_id: integer, waiting: table<integer, claude-code.RequestCallback> } by id
local sent = { last_id = 0, waiting = {} }

local function fail_all()
  local callbacks = sent.waiting
  sent.waiting = {}
  for _, callback in pairs(callbacks) do
    callback(nil, M.GONE)
  end
end

---Sends a request. The callback gets its value, or nil and a sentence for the user.
---@param method string
---@param params table
---@param callback claude-code.RequestCallback
function M.request(method, params, callback)
  channel.on_detach(fail_all)
  local id = sent.last_id + 1
  sent.last_id, sent.waiting[id] = id, callback
  if next(params) == nil then
    params = vim.empty_dict()
  end
  if not channel.notify("request", { id = id, method = method, params = params }) then
    sent.waiting[id] = nil
    callback(nil, M.GONE)
  end
end

---Like `request`, in a task.
---@param method string
---@param params table
---@return any? value
---@return string? problem
function M.await(method, params)
  return require("claude-code.lib.task").await(function(done)
    M.request(method, params, done)
  end)
end

---Like `request`, but shows a problem as a message.
---@param method string
---@param params table
---@param callback fun(value: any?)
function M.ask(method, params, callback)
  M.request(method, params, function(value, problem)
    if problem then
      return require("claude-code.messages.notify").error(problem)
    end
    callback(value)
  end)
end

---@param answer { id: integer, value: any?, error: { code: string, message: string }? }
function M.on_answer(answer)
  local callback = sent.waiting[answer.id]
  sent.waiting[answer.id] = nil
  if not callback then
    return -- from an earlier executable
  end
  local notify = require("claude-code.messages.notify")
  local problem = answer.error or {}
  local ok, failure = pcall(notify.guard, callback, answer.value, problem.message, problem.code)
  if not ok then
    notify.error("an answer of the executable was not shown: " .. failure)
  end
end

return M
