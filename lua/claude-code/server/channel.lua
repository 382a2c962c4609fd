--- The RPC channel to the executable: notifications and requests to it. editor/init.lua has what the executable calls.
local M = {
  --- The problem of a request without an executable.
  GONE = "the executable does not run: try again in a moment, or see :Claude status",
}

---@alias claude-code.RequestCallback fun(value: any?, problem: string?, code: string?)

local attached ---@type integer? the channel
local listeners = {} ---@type (fun())[] for a detach
local last_id = 0
local waiting = {} ---@type table<integer, claude-code.RequestCallback> by the request's id

--- Attaches a channel, and detaches the previous one.
---@param id integer as nvim_get_api_info() gives it to the executable
function M.attach(id)
  M.detach()
  attached = id
end

---@param id? integer detach only this channel
function M.detach(id)
  if not attached or (id and id ~= attached) then
    return
  end
  attached = nil
  local callbacks = waiting
  waiting = {}
  for _, callback in pairs(callbacks) do
    callback(nil, M.GONE)
  end
  for _, listener in ipairs(listeners) do
    listener()
  end
end

--- Detaches and closes the channel. Calls on their way are lost.
function M.close()
  local id = attached
  M.detach()
  pcall(vim.fn.chanclose, id)
end

--- Calls `listener` at every detach. Registering it again changes nothing.
function M.on_detach(listener)
  if not vim.list_contains(listeners, listener) then
    table.insert(listeners, listener)
  end
end

--- Detaches a closed channel, for which Neovim has no event.
---@return boolean is an executable attached, and its channel open?
function M.is_attached()
  if attached and not M.is_open(attached) then
    M.detach(attached)
  end
  return attached ~= nil
end

function M.is_open(id)
  -- For a closed channel Neovim 0.10 returns a table that has no id but is not empty.
  return vim.api.nvim_get_chan_info(id).id ~= nil
end

---@param event "state"|"diff_ended"|"selection"|"mention"|"mentions_withdrawn"|"log_event"|"request"
---@return boolean sent
function M.notify(event, payload)
  if not attached then
    return false
  end
  local target = attached
  local ok = pcall(vim.rpcnotify, target, "claude_code", event, payload)
  if not ok then
    vim.schedule(function()
      M.detach(target)
    end)
  end
  return ok
end

--- Sends a request. The callback gets its value, or nil and a sentence for the user.
---@param method string of an area in `src/commands/neovim-requests.ts`: "review/list"
function M.request(method, params, callback)
  last_id = last_id + 1
  local id = last_id
  waiting[id] = callback
  if next(params) == nil then
    params = vim.empty_dict()
  end
  if not M.notify("request", { id = id, method = method, params = params }) then
    waiting[id] = nil
    callback(nil, M.GONE)
  end
end

--- Like `request`, in a task.
---@return any? value, string? problem
function M.await(method, params)
  return require("claude-code.lib.task").await(function(done)
    M.request(method, params, done)
  end)
end

--- Like `request`, but shows a problem as a message.
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
  local callback = waiting[answer.id]
  waiting[answer.id] = nil
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
