--- Answers a request of the executable once language servers have reported, or when time is over.
--- Neovim answers RPC requests at once, so a late answer is a notification on the asker's channel.
local channel = require("claude-code.server.channel")
local pending = require("claude-code.editor.diagnostics.pending")
local timer = require("claude-code.lib.timer")

---A file that was loaded for the request: linters and language servers begin within this time.
local BEGIN_MS = 25
---How often servers that are busy are looked at again.
local BUSY_STEP_MS = 250
---The pause before more files are loaded.
local LOAD_STEP_MS = 2

local M = {}

---@class claude-code.WaitParams
---@field channel integer the asker's
---@field id integer the asker's number for this request
---@field timeout_ms integer
---@field busy_timeout_ms? integer at most, where value.is_busy puts the end of `timeout_ms` off

---@param answer claude-code.Answer
---@return boolean
local function is_settled(answer)
  return answer.value == nil or answer.value.settled
end

---@param answer claude-code.Answer
---@return boolean is a server busy that will report?
local function is_busy(answer)
  return answer.value ~= nil and answer.value.is_busy == true
end

---@param params claude-code.WaitParams
---@param ask fun(): claude-code.Answer whose value has `settled`
local function wait(params, ask)
  local began = vim.uv.now()
  local deadline = began + params.timeout_ms
  local limit = began + math.max(params.timeout_ms, params.busy_timeout_ms or 0)
  local cancel_change, cancel_timer = function() end, function() end
  local is_over = false
  ---@param answer? claude-code.Answer nil: the asker is gone
  local function finish(answer)
    is_over = true
    cancel_change()
    cancel_timer()
    if answer then
      local payload = { id = params.id, answer = answer }
      pcall(vim.rpcnotify, params.channel, "claude_code", "settled", payload)
    end
  end
  local function check()
    if is_over then
      return
    elseif not channel.is_open(params.channel) then
      return finish()
    end
    local answer, now = ask(), vim.uv.now()
    local busy = is_busy(answer)
    if busy then
      deadline = math.min(now + params.timeout_ms, limit)
    end
    if is_settled(answer) or now >= deadline then
      return finish(answer)
    end
    cancel_timer()
    local is_loading = answer.value.files or answer.value.is_loading
    local step = is_loading and LOAD_STEP_MS or BUSY_STEP_MS
    cancel_timer = timer.once(math.min(deadline - now, busy and step or math.huge), check)
  end
  -- Scheduled, since `ask` may load a file, which is such a change.
  cancel_change = pending.on_change(vim.schedule_wrap(check))
  cancel_timer = timer.once(math.min(BEGIN_MS, params.timeout_ms), check)
end

---@param params claude-code.WaitParams
---@param ask fun(): claude-code.Answer whose value has `settled`; called again while it is not
---@return { answer?: claude-code.Answer } without one it comes as the notification "settled"
function M.answer(params, ask)
  local answer = ask()
  if is_settled(answer) then
    return { answer = answer }
  end
  wait(params, ask)
  return {}
end

return M
