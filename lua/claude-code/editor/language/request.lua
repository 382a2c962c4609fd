--- Requests to language servers: asynchronous, limited in time, and cancelled when no one wants the answer any more.
local lsp = require("claude-code.lib.lsp")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.lib.task")
local timer = require("claude-code.lib.timer")

---ContentModified and ServerCancelled (LSP 3.17, ErrorCodes): the same request may succeed now.
local AGAIN = { [-32801] = true, [-32802] = true }
local MAX_REPEATS, REPEAT_MS = 3, 200
---How often it is checked whether the server has ended: Neovim drops the requests of one that has.
local CHECK_MS = 200
---A server that takes longer hangs.
local TIMEOUT_MS = 10000

local M = {
  ---The longest wait for a server that says it is busy; the answer says that it is.
  BUSY_MS = 12000,
  ---A server that has just started is asked again after such pauses, for this long.
  REPEAT_MS = 700,
  MAX_YOUNG_MS = 5000,
}

---@class claude-code.ServerAnswer
---@field client vim.lsp.Client
---@field result? any nil if the server has nothing to say
---@field failure? string the server's own error, or why there is no answer
---@field problem? "ended"|"hangs"

---@class claude-code.Question
---@field method string
---@field params table|fun(client: vim.lsp.Client): table
---@field buf? integer its pending changes are sent first

---@param client vim.lsp.Client
---@param question claude-code.Question
---@param done fun(answer: claude-code.ServerAnswer)
---@return fun() cancel
local function ask(client, question, done)
  local id, repeats, is_done, cancels ---@type integer?, integer, boolean, (fun())[]
  repeats, is_done, cancels = 0, false, {}
  local params = question.params
  params = type(params) == "function" and params(client) or params

  local function finish(answer)
    if is_done then
      return
    end
    is_done = true
    for _, cancel in ipairs(cancels) do
      cancel()
    end
    if answer then
      answer.client = client
      done(answer)
    end
  end
  local function take_back()
    if id and not is_done and not client:is_stopped() then
      pcall(lsp.call, client, "cancel_request", id)
    end
  end
  local function send()
    local function on_answer(err, result)
      if err and AGAIN[err.code] and repeats < MAX_REPEATS and not is_done then
        repeats = repeats + 1
        table.insert(cancels, timer.once(REPEAT_MS, send))
        return
      end
      -- JSON's null is nothing, too.
      result = result ~= vim.NIL and result or nil
      finish({ result = result, failure = err and tostring(err.message or err.code) })
    end
    local _, sent, number =
      pcall(lsp.call, client, "request", question.method, params, on_answer, question.buf)
    id = number
    if sent ~= true then
      finish({ problem = "ended", failure = "it has ended" })
    end
  end

  local ms = math.min(TIMEOUT_MS, task.time_left())
  cancels[1] = timer.every(CHECK_MS, function()
    if client:is_stopped() then
      finish({ problem = "ended", failure = "it has ended" })
    end
  end)
  cancels[2] = timer.once(ms, function()
    take_back()
    finish({ problem = "hangs", failure = ("it did not answer within %.1f s"):format(ms / 1000) })
  end)
  send()
  return function()
    take_back()
    finish(nil)
  end
end

---Asks several questions at once, each of its own server, in a task.
---@param list { client: vim.lsp.Client, question: claude-code.Question }[]
---@return claude-code.ServerAnswer[] in the same order
function M.each(list)
  if #list == 0 then
    return {}
  end
  return task.await(function(done)
    local answers, missing, cancels = {}, #list, {}
    for i, entry in ipairs(list) do
      cancels[i] = ask(entry.client, entry.question, function(answer)
        answers[i], missing = answer, missing - 1
        if missing == 0 then
          done(answers)
        end
      end)
    end
    return function()
      for _, cancel in ipairs(cancels) do
        cancel()
      end
    end
  end)
end

---@param clients vim.lsp.Client[]
---@param question claude-code.Question
---@return { client: vim.lsp.Client, question: claude-code.Question }[]
function M.of_all(clients, question)
  return vim.tbl_map(function(client)
    return { client = client, question = question }
  end, clients)
end

---Asks all of these servers one question, in a task.
---@param clients vim.lsp.Client[]
---@param question claude-code.Question
---@return claude-code.ServerAnswer[] in the same order
function M.all(clients, question)
  return M.each(M.of_all(clients, question))
end

---A server that still reads the project finds more the next time. Lists are compared by their length.
---@param before claude-code.ServerAnswer[]
---@param now claude-code.ServerAnswer[]
local function are_same(before, now)
  for i, answer in ipairs(now) do
    local old, new = before[i].result, answer.result
    local are_lists = vim.islist(old) and vim.islist(new)
    if are_lists and #old ~= #new or not are_lists and not vim.deep_equal(old, new) then
      return false
    end
  end
  return true
end

---Asks servers once they are no longer busy, in a task. One that has just started is asked until two answers are the
---same: it may still be reading the project.
---@param list { client: vim.lsp.Client, question: claude-code.Question }[]
---@return claude-code.ServerAnswer[] in the same order
---@return boolean is_settled
function M.settled(list)
  ---@param test fun(client: vim.lsp.Client): boolean
  local function has(test)
    return vim.iter(list):any(function(entry)
      return test(entry.client)
    end)
  end
  task.wait_for(function()
    return not has(servers.is_busy)
  end, math.min(M.BUSY_MS, task.time_left() - 3000))
  local limit = vim.uv.now() + math.min(M.MAX_YOUNG_MS, task.time_left() - 2000)
  local answers, is_same = M.each(list), not has(servers.is_young)
  while not is_same and vim.uv.now() < limit do
    task.sleep(M.REPEAT_MS)
    local before = answers
    answers = M.each(list)
    is_same = are_same(before, answers)
  end
  return answers, is_same and not has(servers.is_busy)
end

---@param list claude-code.ServerAnswer[]
---@return claude-code.Failure? if no server gave an answer
function M.failure_of(list)
  for _, answer in ipairs(list) do
    if not answer.failure then
      return nil
    end
  end
  local first = list[1]
  if first then
    local text = "%s gave no answer: %s. Ask again in 10 s, or use Grep."
    return { code = "failed", message = text:format(first.client.name, first.failure) }
  end
end

---The state of each server that was asked.
---@param answers claude-code.ServerAnswer[]
---@param is_settled boolean
---@return claude-code.LanguageServerState[] by name, each once
function M.states(answers, is_settled)
  local by_name = {} ---@type table<string, claude-code.LanguageServerState>
  for _, answer in ipairs(answers) do
    local state = servers.state_of(answer.client)
    if answer.failure then
      state.state, state.title = answer.problem or "failing", answer.failure
    elseif not is_settled and state.state == "idle" then
      state.state = "starting"
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

---@param states claude-code.LanguageServerState[]
---@param name string of what they do not know
---@return claude-code.Failure? if one of the servers is not idle
function M.not_ready(states, name)
  for _, state in ipairs(states) do
    if state.state ~= "idle" then
      local text = "Not ready: %s (%s) may know `%s` later. Ask again in 10 s, or use Grep."
      local message = text:format(state.name, state.state, name)
      return { code = "not_ready", message = message }
    end
  end
end

return M
