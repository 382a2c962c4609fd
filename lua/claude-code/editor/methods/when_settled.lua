--- Answers a request of the executable once language servers have reported, or when time is over.
local uv = vim.uv
local channel = require("claude-code.server.channel")
local pending = require("claude-code.editor.diagnostics.pending")
local task = require("claude-code.lib.task")

---A file that was loaded for the request: linters and language servers begin within this time.
local BEGIN_MS = 25
---How often servers that are busy are looked at again; the pause before more files are loaded.
local BUSY_STEP_MS, LOAD_STEP_MS = 250, 2
---Neovim may be busy when time is over; the answer comes all the same.
local SPARE_MS = 60000

local M = {}

---@class claude-code.WaitParams : claude-code.TaskParams
---@field busy_timeout_ms? integer at most, where value.is_busy puts the end of `timeout_ms` off

---@param answer claude-code.Answer
local function is_settled(answer)
  return answer.value == nil or answer.value.settled
end

---@param params claude-code.WaitParams
---@param ask fun(): claude-code.Answer whose value has `settled`
---@param limit number by uv.now()
---@return claude-code.Answer? nil if the asker is gone
local function wait_for_answer(params, ask, limit)
  local deadline = uv.now() + params.timeout_ms
  local look_at = uv.now() + math.min(BEGIN_MS, params.timeout_ms)
  local changes = pending.changes()
  local answer ---@type claude-code.Answer?
  repeat
    -- Neovim gets its turn, also where the question itself loads files, which are such changes.
    task.sleep(math.min(LOAD_STEP_MS, look_at - uv.now()))
    task.wait_for(function()
      return pending.changes() ~= changes
    end, look_at - uv.now())
    changes = pending.changes()
    answer = channel.is_open(params.channel) and ask() or nil
    local value, now = answer and answer.value or {}, uv.now()
    if value.is_busy then
      deadline = math.min(now + params.timeout_ms, limit)
    end
    local step = (value.files or value.is_loading) and LOAD_STEP_MS or BUSY_STEP_MS
    look_at = math.min(deadline, value.is_busy and now + step or math.huge)
  until not answer or is_settled(answer) or look_at <= now
  return answer
end

---@param params claude-code.WaitParams
---@param ask fun(): claude-code.Answer whose value has `settled`; called again while it is not
---@return { answer?: claude-code.Answer } without one it comes as the notification "settled"
function M.answer(params, ask)
  local answer = ask()
  if is_settled(answer) then
    return { answer = answer }
  end
  local ms = math.max(params.timeout_ms, params.busy_timeout_ms or 0)
  local limit = uv.now() + ms
  return task.start(vim.tbl_extend("force", params, { timeout_ms = ms + SPARE_MS }), function()
    return wait_for_answer(params, ask, limit)
  end, require("claude-code.editor.documents.scope").resuming())
end

return M
