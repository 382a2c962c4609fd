--- Requests to language servers: asynchronous, never longer than they may take, and taken back when
--- nobody wants the answer any more.
local call = require("claude-code.editor.language.call")
local task = require("claude-code.editor.language.task")
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

local M = {}

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
---@field timeout_ms? number

---@param value any
---@return any value, nil for JSON's null
local function present(value)
  return value ~= vim.NIL and value or nil
end

---@param client vim.lsp.Client
---@param question claude-code.Question
---@param done fun(answer: claude-code.ServerAnswer)
---@return fun() cancel
local function ask(client, question, done)
  local id, repeats, is_done = nil, 0, false ---@type integer?, integer, boolean
  local cancels = {} ---@type (fun())[]
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
  local function cancel()
    if id and not is_done and not client:is_stopped() then
      pcall(call, client, "cancel_request", id)
    end
    finish(nil)
  end
  local function send()
    local params = question.params
    params = type(params) == "function" and params(client) or params
    local _, sent, number = pcall(
      call,
      client,
      "request",
      question.method,
      params,
      function(err, result)
        if err and AGAIN[err.code] and repeats < MOST_REPEATS and not is_done then
          repeats = repeats + 1
          cancels[#cancels + 1] = timer.once(REPEAT_MS, send)
          return
        end
        finish({
          result = present(result),
          failure = err and tostring(err.message or err.code),
          is_unsupported = err and err.code == METHOD_NOT_FOUND or nil,
        })
      end,
      question.buf
    )
    id = number
    if sent ~= true then
      finish({ problem = "ended", failure = "it has ended" })
    end
  end
  cancels[#cancels + 1] = timer.every(CHECK_MS, function()
    if client:is_stopped() then
      finish({ problem = "ended", failure = "it has ended" })
    end
  end)
  local timeout_ms = math.min(question.timeout_ms or TIMEOUT_MS, task.time_left())
  cancels[#cancels + 1] = timer.once(timeout_ms, function()
    if id then
      pcall(call, client, "cancel_request", id)
    end
    local text = "it did not answer within %.1f s"
    finish({ problem = "hangs", failure = text:format(timeout_ms / 1000) })
  end)
  send()
  return cancel
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

---Asks all of these servers one question, in a task.
---@param clients vim.lsp.Client[]
---@param question claude-code.Question
---@return claude-code.ServerAnswer[] in the same order
function M.all(clients, question)
  return M.each(vim.tbl_map(function(client)
    return { client = client, question = question }
  end, clients))
end

return M
