--- Requests to language servers: asynchronous, never longer than they may take, and taken back when
--- nobody wants the answer any more.
local lsp = require("claude-code.lib.lsp")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.lib.task")
local timer = require("claude-code.lib.timer")

---ContentModified and ServerCancelled (LSP 3.17, ErrorCodes): the same request may succeed now.
local AGAIN = { [-32801] = true, [-32802] = true }
---MethodNotFound (JSON-RPC): clangd 19 announces call hierarchies, and knows no outgoing calls.
local METHOD_NOT_FOUND = -32601
local MOST_REPEATS, REPEAT_MS = 3, 200
---How often it is checked whether the server has ended: Neovim drops the requests of one that has.
local CHECK_MS = 200
---A server that takes longer hangs, as far as one question goes.
local TIMEOUT_MS = 10000

local M = {
  ---So long a server is waited for that says it is busy; the answer says that it is.
  BUSY_MS = 12000,
  ---A server that has just begun is asked until two answers are the same, with such pauses.
  REPEAT_MS = 700,
  MOST_REPEAT_MS = 8000,
  ---… and as long as it knows nothing of what is asked about.
  MOST_EMPTY_MS = 3000,
}

local asked = {} ---@type table<string, true> by client and method

---@class claude-code.ServerAnswer
---@field client vim.lsp.Client
---@field result? any nil where the server has nothing to say
---@field failure? string the server's own error, or why there is no answer
---@field problem? "ended"|"hangs"
---@field is_unsupported? boolean it does not know the request

---@class claude-code.Question
---@field method string
---@field params table|fun(client: vim.lsp.Client): table
---@field buf? integer its pending changes are sent first

---@class claude-code.Request of one question to one server
---@field private client vim.lsp.Client
---@field private question claude-code.Question
---@field private done fun(answer: claude-code.ServerAnswer)
---@field private id? integer
---@field private repeats integer
---@field private cancels (fun())[]
---@field private is_done boolean
local Request = {}
Request.__index = Request

---@private
---@param answer? table nil: nobody wants it any more
function Request:finish(answer)
  if self.is_done then
    return
  end
  self.is_done = true
  for _, cancel in ipairs(self.cancels) do
    cancel()
  end
  if answer then
    answer.client = self.client
    self.done(answer)
  end
end

---@private
function Request:take_back()
  if self.id and not self.client:is_stopped() then
    pcall(lsp.call, self.client, "cancel_request", self.id)
  end
end

function Request:cancel()
  if not self.is_done then
    self:take_back()
    self:finish(nil)
  end
end

---@private
---@param err? lsp.ResponseError
---@param result any
function Request:on_answer(err, result)
  if err and AGAIN[err.code] and self.repeats < MOST_REPEATS and not self.is_done then
    self.repeats = self.repeats + 1
    local again = timer.once(REPEAT_MS, function()
      self:send()
    end)
    return table.insert(self.cancels, again)
  end
  self:finish({
    -- JSON's null is nothing, too.
    result = result ~= vim.NIL and result or nil,
    failure = err and tostring(err.message or err.code),
    is_unsupported = err and err.code == METHOD_NOT_FOUND or nil,
  })
end

---@private
function Request:send()
  local client, question = self.client, self.question
  local params = question.params
  params = type(params) == "function" and params(client) or params
  local function on_answer(err, result)
    self:on_answer(err, result)
  end
  local _, sent, id =
    pcall(lsp.call, client, "request", question.method, params, on_answer, question.buf)
  self.id = id
  if sent ~= true then
    self:finish({ problem = "ended", failure = "it has ended" })
  end
end

---@private
---@param ms number from now on
function Request:limit(ms)
  local function end_if_stopped()
    if self.client:is_stopped() then
      self:finish({ problem = "ended", failure = "it has ended" })
    end
  end
  local function give_up()
    self:take_back()
    local failure = ("it did not answer within %.1f s"):format(ms / 1000)
    self:finish({ problem = "hangs", failure = failure })
  end
  self.cancels = { timer.every(CHECK_MS, end_if_stopped), timer.once(ms, give_up) }
end

---@param client vim.lsp.Client
---@param question claude-code.Question
---@param done fun(answer: claude-code.ServerAnswer)
---@return claude-code.Request
local function ask(client, question, done)
  local fields = { client = client, question = question, done = done, repeats = 0, is_done = false }
  local request = setmetatable(fields, Request)
  request:limit(math.min(TIMEOUT_MS, task.time_left()))
  request:send()
  return request
end

---Asks several questions at once, each of its own server, in a task.
---@param list { client: vim.lsp.Client, question: claude-code.Question }[]
---@return claude-code.ServerAnswer[] in the same order
function M.each(list)
  if #list == 0 then
    return {}
  end
  return task.await(function(done)
    local answers, missing, requests = {}, #list, {}
    for i, entry in ipairs(list) do
      requests[i] = ask(entry.client, entry.question, function(answer)
        answers[i], missing = answer, missing - 1
        if missing == 0 then
          done(answers)
        end
      end)
    end
    return function()
      for _, request in ipairs(requests) do
        request:cancel()
      end
    end
  end)
end

---Asks all of these servers one question, in a task.
---@param clients vim.lsp.Client[]
---@param question claude-code.Question
---@return claude-code.ServerAnswer[] in the same order
function M.all(clients, question)
  return M.each(vim.tbl_map(function(client)
    return { client = client, question = question }
  end, clients))
end

---@param client vim.lsp.Client
local function is_busy(client)
  local state = servers.state_of(client).state
  return state == "starting" or state == "indexing"
end

---In a task: waits for servers that say they are busy, until they are no longer.
---@param clients vim.lsp.Client[]
local function wait(clients)
  task.wait_for(function()
    return not vim.iter(clients):any(is_busy)
  end, math.min(M.BUSY_MS, task.time_left() - 3000))
end

---In a task: asks again while servers that have just begun find nothing.
---@generic T
---@param clients vim.lsp.Client[]
---@param find fun(): T[], claude-code.ServerAnswer[]
---@return T[]
---@return claude-code.ServerAnswer[]
function M.retry_empty(clients, find)
  wait(clients)
  local limit = vim.uv.now() + math.min(M.MOST_EMPTY_MS, task.time_left() - 3000)
  local found, answers = find()
  while
    #found == 0
    and not M.failure_of(answers)
    and vim.iter(clients):any(servers.is_young)
    and vim.uv.now() < limit
  do
    task.sleep(M.REPEAT_MS)
    found, answers = find()
  end
  return found, answers
end

---A server that still reads the project finds more the next time. Lists are compared by their length: others may be
---the edits of a rename.
---@param before claude-code.ServerAnswer[]
---@param after claude-code.ServerAnswer[]
local function are_same(before, after)
  for i, answer in ipairs(after) do
    local old, new = before[i].result, answer.result
    local are_lists = vim.islist(old) and vim.islist(new)
    if
      answer.failure ~= before[i].failure
      or are_lists and #old ~= #new
      or not are_lists and not vim.deep_equal(old, new)
    then
      return false
    end
  end
  return true
end

---Asks servers a question across files, in a task: until the answer can be relied on, or time is over.
---@param clients vim.lsp.Client[]
---@param question claude-code.Question
---@return claude-code.ServerAnswer[]
---@return boolean is_settled
function M.settled(clients, question)
  wait(clients)
  -- They may answer with a part, without saying so.
  local must_repeat = vim.iter(clients):any(function(client)
    return not asked[client.id .. question.method] or servers.is_young(client)
  end)
  local answers = M.all(clients, question)
  local limit = vim.uv.now() + math.min(M.MOST_REPEAT_MS, task.time_left() - 2000)
  while must_repeat do
    if vim.uv.now() > limit then
      return answers, false
    end
    task.sleep(M.REPEAT_MS)
    local again = M.all(clients, question)
    must_repeat = not are_same(answers, again)
    answers = again
  end
  -- Not before: a question that is taken back proves nothing.
  for _, client in ipairs(clients) do
    asked[client.id .. question.method] = true
  end
  return answers, not vim.iter(clients):any(is_busy)
end

---@param list claude-code.ServerAnswer[]
---@return claude-code.Failure? if no server gave an answer
function M.failure_of(list)
  local first = list[1]
  for _, answer in ipairs(list) do
    if not answer.failure then
      return nil
    end
  end
  if first then
    local text = "%s gave no answer: %s. Ask again in 10 s, or use Grep."
    return { code = "failed", message = text:format(first.client.name, first.failure) }
  end
end

local DESCRIPTIONS = {
  ended = "%s, which has ended,",
  hangs = "%s, which does not answer,",
  indexing = "%s, which is indexing,",
  starting = "%s, which is starting,",
  failing = "%s, which reports an error,",
  unindexed = "%s, which has indexed only open files,",
}

---@param states claude-code.LanguageServerState[]
---@param text string with the server, as the subject of a sentence, and the name of a symbol
---@param name string
---@return claude-code.Failure? if one of the servers is not idle
function M.not_ready(states, text, name)
  for _, state in ipairs(states) do
    if state.state ~= "idle" then
      local server = DESCRIPTIONS[state.state]:format(state.name)
      return { code = "not_ready", message = "Not ready: " .. text:format(server, name) }
    end
  end
end

---The state of each server that was asked.
---@param answers claude-code.ServerAnswer[]
---@param is_across_files? boolean the question was about the whole project
---@return claude-code.LanguageServerState[] by name, each once
function M.states(answers, is_across_files)
  local by_name = {} ---@type table<string, claude-code.LanguageServerState>
  for _, answer in ipairs(answers) do
    local state = servers.state_of(answer.client)
    if answer.problem then
      state.state = answer.problem
    elseif is_across_files and state.state == "idle" and servers.is_unindexed(answer.client) then
      state.state = "unindexed"
    end
    local known = by_name[state.name]
    if not known or known.state == "idle" then
      by_name[state.name] = state
    end
  end
  local list = vim.tbl_values(by_name)
  table.sort(list, function(a, b)
    return a.name < b.name
  end)
  return list
end

return M
