--- What the sessions that belong to this Neovim do, all together: User ClaudeCodeActivityChanged.
local process = require("claude-code.programs.process")
local rows = require("claude-code.sessions.rows")

local M = {}

---@alias claude-code.Activity "working"|"idle"

---@type claude-code.Activity?
local emitted

---@param row claude-code.SessionRow
---@return claude-code.Activity?
local function activity_of(row)
  -- Of a CLI that was killed hooks say nothing.
  local is_gone = row.source == "hook" and row.pid and not process.is_alive(row.pid)
  if not row.attached or not row.state or is_gone then
    return nil
  end
  return (row.state == "working" or row.state == "blocked") and "working" or "idle"
end

---"working" if any of them is in the middle of a turn; nil if no state is known.
---@return claude-code.Activity?
function M.get()
  local activity
  for _, row in ipairs(rows.peek()) do
    activity = activity ~= "working" and activity_of(row) or activity
  end
  return activity
end

local function emit()
  local now = M.get()
  if now ~= emitted then
    emitted = now
    require("claude-code.lib.events").emit("ActivityChanged", { activity = now })
  end
end

---Reports changes, from the first call on.
function M.follow()
  vim.api.nvim_create_autocmd("User", {
    group = vim.api.nvim_create_augroup("claude-code.sessions.activity", { clear = true }),
    pattern = { "ClaudeCodeSessionChanged", "ClaudeCodeSessionEnded" },
    callback = emit,
  })
end

return M
