--- Answers a request of the executable once language servers have reported, or when time is over.
--- Neovim answers RPC requests at once, so a late answer is a notification on the asker's channel.
local channel = require("claude-code.editor.channel")
local pending = require("claude-code.editor.diagnostics.pending")
local timer = require("claude-code.timer")

---A file that was loaded for the request: linters and language servers begin within this time.
local BEGIN_MS = 25

local M = {}

---@class claude-code.WaitParams
---@field channel integer the asker's
---@field id integer the asker's number for this request
---@field timeout_ms integer

---@param answer claude-code.Answer
---@return boolean
local function is_settled(answer)
  return answer.value == nil or answer.value.settled
end

---@param params claude-code.WaitParams
---@param ask fun(): claude-code.Answer whose value has `settled`
local function wait(params, ask)
  local cancels ---@type (fun())[]?
  ---@param answer? claude-code.Answer nil: the asker is gone
  local function finish(answer)
    for _, cancel in ipairs(cancels or {}) do
      cancel()
    end
    cancels = nil
    if answer then
      local payload = { id = params.id, answer = answer }
      pcall(vim.rpcnotify, params.channel, "claude_code", "settled", payload)
    end
  end
  local function check(is_late)
    if not cancels then
      return
    elseif not channel.is_open(params.channel) then
      return finish()
    end
    local answer = ask()
    if is_late or is_settled(answer) then
      finish(answer)
    end
  end
  cancels = {
    -- Scheduled, since `ask` may load a file, which is such a change.
    pending.on_change(vim.schedule_wrap(check)),
    timer.once(BEGIN_MS, check),
    timer.once(params.timeout_ms, function()
      check(true)
    end),
  }
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
