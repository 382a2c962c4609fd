--- Sends requests to the language servers that Neovim runs, asynchronously and with a time limit, and cancels them when
--- their task is cancelled.
local lsp = require("claude-code.lib.lsp")
local sort = require("claude-code.lib.sort")
local task = require("claude-code.lib.task")
local timer = require("claude-code.lib.timer")

---ContentModified and ServerCancelled (LSP 3.17, ErrorCodes): the same request may succeed now.
local AGAIN = { [-32801] = true, [-32802] = true }
local MAX_REPEATS, REPEAT_MS = 3, 200
---Interval of checks whether the server has ended: then Neovim drops requests without an answer.
local CHECK_MS = 200
---After this time a server counts as hanging.
local TIMEOUT_MS = 10000

local M = {}

---@return table state ServerState of src/editor/language.ts
function M.state_of(client)
  local state = client:is_stopped() and "ended" or lsp.busy_with(client) or "idle"
  return { name = client.name, state = state }
end

---@return vim.lsp.Client[] clients of the buffer that support the method, sorted by id
function M.capable(buf, method)
  return sort(lsp.clients({ bufnr = buf, method = method }), "id")
end

---@param method? string that they must support
---@return vim.lsp.Client[] running clients, sorted by id
function M.running(method)
  return vim.tbl_filter(function(client)
    return client.initialized and not client:is_stopped()
  end, sort(lsp.clients({ method = method }), "id"))
end

---@class claude-code.ServerAnswer
---@field client vim.lsp.Client
---@field result? any nil if the server knows nothing
---@field failure? string error of the server, or the reason why no answer came
---@field problem? "ended"|"hangs"

---@class claude-code.Question
---@field method string
---@field params table|fun(client: vim.lsp.Client): table
---@field buf? integer Neovim sends its pending changes first

---@param done fun(answer: claude-code.ServerAnswer)
---@return fun() cancel
local function ask(client, question, done)
  local id, stop_checks ---@type integer?, fun()
  local repeats, is_over = 0, false
  local params = question.params
  params = type(params) == "function" and params(client) or params
  local limit = vim.uv.now() + TIMEOUT_MS

  local function finish(answer)
    if not is_over then
      is_over = true
      stop_checks()
      answer.client = client
      done(answer)
    end
  end
  local function on_end()
    finish({ problem = "ended", failure = "it has ended" })
  end
  local function send()
    local function on_answer(err, result)
      if err and AGAIN[err.code] and repeats < MAX_REPEATS then
        repeats = repeats + 1
        return timer.once(REPEAT_MS, send)
      end
      result = result ~= vim.NIL and result or nil
      finish({ result = result, failure = err and tostring(err.message or err.code) })
    end
    if is_over then
      return
    end
    local _, sent, number =
      pcall(lsp.call, client, "request", question.method, params, on_answer, question.buf)
    id = number
    if sent ~= true then
      on_end()
    end
  end
  local function take_back()
    if id and not is_over and not client:is_stopped() then
      pcall(lsp.call, client, "cancel_request", id)
    end
  end

  stop_checks = timer.every(CHECK_MS, function()
    if client:is_stopped() then
      on_end()
    elseif vim.uv.now() > limit then
      take_back()
      local text = "it did not answer within %d s"
      finish({ problem = "hangs", failure = text:format(TIMEOUT_MS / 1000) })
    end
  end)
  send()
  return function()
    take_back()
    is_over = true
    stop_checks()
  end
end

---Asks several questions at once, in a task.
---@param list { client: vim.lsp.Client, question: claude-code.Question }[]
---@return claude-code.ServerAnswer[] in the order of the questions
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

---Asks several servers one question, in a task.
---@return claude-code.ServerAnswer[] in the order of the servers
function M.all(clients, question)
  return M.each(vim.tbl_map(function(client)
    return { client = client, question = question }
  end, clients))
end

---@return claude-code.Failure? failure if every server failed
function M.failure_of(list)
  local first = list[1]
  local has_failed = vim.iter(list):all(function(answer)
    return answer.failure ~= nil
  end)
  if first and has_failed then
    local text = "%s gave no answer: %s. Ask again in 10 s, or use Grep."
    return { code = "failed", message = text:format(first.client.name, first.failure) }
  end
end

---@return table[] states of the servers, sorted by name, without duplicates
function M.states(answers)
  local by_name = {}
  for _, answer in ipairs(answers) do
    local state = M.state_of(answer.client)
    if answer.failure then
      state.state, state.title = answer.problem or "failing", answer.failure
    end
    local known = by_name[state.name]
    if not known or known.state == "idle" then
      by_name[state.name] = state
    end
  end
  return sort(vim.tbl_values(by_name), "name")
end

---@param name string that the servers do not know
---@return claude-code.Failure? failure if a server is not idle
function M.not_ready(answers, name)
  for _, state in ipairs(M.states(answers)) do
    if state.state ~= "idle" then
      local text = "Not ready: %s (%s) may know `%s` later. Ask again in 10 s, or use Grep."
      local _, failure = task.fail("not_ready", text, state.name, state.state, name)
      return failure
    end
  end
end

return M
