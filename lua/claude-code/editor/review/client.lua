--- Requests to the executable's review, and what it reports. Nothing waits: an answer comes by a
--- callback. The methods, and what they take and give, are in src/review/service.ts.
local channel = require("claude-code.server.channel")

local M = {}

---@class claude-code.ReviewCounts
---@field files integer
---@field hunks integer
---@field added integer
---@field removed integer

---@alias claude-code.ReviewMethod
---| "list"|"file"|"why"|"base"|"ref"
---| "keep"|"undo"|"last"|"back"|"done"
---| "comments"|"written"|"accepted"|"privacy"|"ignore"

---@class claude-code.DueUndo an undo that was queued and is to be requested now
---@field decision string
---@field paths string[]

---@class claude-code.ReviewSummary
---@field counts claude-code.ReviewCounts
---@field incomplete boolean a change could not be recorded, and the user has not kept the rest since
---@field comments claude-code.ReviewComment[]
---@field due claude-code.DueUndo[]
---@field runs boolean something of Claude's may be changing files

---The problem of a request that nobody answers any more.
M.GONE = "the executable has stopped: try again in a moment"

---@class claude-code.ReviewConnection
---@field last_id integer
---@field waiting table<integer, fun(value: any?, problem: string?)> by the ids of requests
---@field summary? claude-code.ReviewSummary what the executable reported last
---@field listeners (fun(summary: claude-code.ReviewSummary))[]
local connection = { last_id = 0, waiting = {}, listeners = {} }

local function fail_all()
  local callbacks = connection.waiting
  connection.waiting, connection.summary = {}, nil
  for _, callback in pairs(callbacks) do
    callback(nil, M.GONE)
  end
end

---Sends a request; the callback gets its value, or nil and a sentence for the user.
---@param method claude-code.ReviewMethod
---@param params table
---@param callback fun(value: any?, problem: string?)
function M.request(method, params, callback)
  channel.on_detach(fail_all)
  local id = connection.last_id + 1
  connection.last_id, connection.waiting[id] = id, callback
  if next(params) == nil then
    params = vim.empty_dict()
  end
  if not channel.notify("review", { id = id, method = method, params = params }) then
    connection.waiting[id] = nil
    callback(nil, M.GONE)
  end
end

---As `request`, for a command or key: a problem is a message.
---@param method claude-code.ReviewMethod
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

---Calls `listener` whenever something was recorded, decided, or has changed on disk. Registering it again
---changes nothing.
---@param listener fun(summary: claude-code.ReviewSummary)
function M.on_summary(listener)
  if not vim.tbl_contains(connection.listeners, listener) then
    table.insert(connection.listeners, listener)
  end
end

---What the executable reported last.
---@return claude-code.ReviewSummary?
function M.summary()
  return connection.summary
end

---@param answer { id: integer, value: any?, error: string? }
---@return true
function M.on_answer(answer)
  local callback = connection.waiting[answer.id]
  connection.waiting[answer.id] = nil
  local ok, failure = true, nil
  if callback then
    ok, failure = xpcall(callback, debug.traceback, answer.value, answer.error)
  end
  if not ok then
    require("claude-code.messages.notify").error("the review's answer was not shown: " .. failure)
  end
  return true
end

---@param summary claude-code.ReviewSummary
---@return true
function M.on_changed(summary)
  channel.on_detach(fail_all)
  connection.summary = summary
  for _, listener in ipairs(connection.listeners) do
    listener(summary)
  end
  return true
end

---@param method claude-code.ReviewMethod
---@param params table
---@param warning string for the log
local function set_option(method, params, warning)
  M.request(method, params, function(_, problem)
    if problem then
      require("claude-code.messages.log").warn(warning .. problem)
    end
  end)
end

---Sends the options `privacy.*`, for hooks: they run where no Neovim does.
function M.send_privacy()
  local options = require("claude-code.config").get().privacy
  local params = { defaults = options.defaults, patterns = options.patterns }
  set_option("privacy", params, "Hooks do not know the options privacy.*: ")
end

---Sends the option `review.ignore`.
function M.send_ignore()
  local params = { patterns = require("claude-code.config").get().review.ignore }
  set_option("ignore", params, "The review does not know the option review.ignore: ")
end

return M
