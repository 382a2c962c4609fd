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
---| "comments"|"written"|"accepted"|"privacy"

---@class claude-code.ReviewNews
---@field counts claude-code.ReviewCounts
---@field incomplete boolean a change could not be recorded, and the user has not kept the rest since
---@field comments claude-code.ReviewComment[]
---@field due { decision: string, paths: string[] }[] undos that were queued and are to be requested now
---@field runs boolean something of Claude's may be changing files

local GONE = "the executable has stopped: try again in a moment"

local last_id = 0
local waiting = {} ---@type table<integer, fun(value: any?, problem: string?)>
local listeners = {} ---@type (fun(news: claude-code.ReviewNews))[]
local news ---@type claude-code.ReviewNews?

local function fail_all()
  local callbacks = waiting
  waiting = {}
  news = nil
  for _, callback in pairs(callbacks) do
    callback(nil, GONE)
  end
end

---Sends a request; the callback gets its value, or nil and a sentence for the user.
---@param method claude-code.ReviewMethod
---@param params table
---@param callback fun(value: any?, problem: string?)
function M.request(method, params, callback)
  channel.on_detach(fail_all)
  last_id = last_id + 1
  local id = last_id
  waiting[id] = callback
  if next(params) == nil then
    params = vim.empty_dict()
  end
  if not channel.notify("review", { id = id, method = method, params = params }) then
    waiting[id] = nil
    callback(nil, GONE)
  end
end

---Calls `listener` whenever something was recorded, decided, or has changed on disk.
---@param listener fun(news: claude-code.ReviewNews)
function M.on_news(listener)
  listeners[#listeners + 1] = listener
end

---What the executable reported last.
---@return claude-code.ReviewNews?
function M.news()
  return news
end

---@param answer { id: integer, value: any?, error: string? }
---@return true
function M.on_answer(answer)
  local callback = waiting[answer.id]
  waiting[answer.id] = nil
  if answer.error then
    -- Loaded only here: this file is loaded at every start.
    require("claude-code.editor.review.text").forget_sent()
  end
  if callback then
    callback(answer.value, answer.error)
  end
  return true
end

---@param latest claude-code.ReviewNews
---@return true
function M.on_changed(latest)
  channel.on_detach(fail_all)
  news = latest
  for _, listener in ipairs(listeners) do
    listener(latest)
  end
  return true
end

return M
