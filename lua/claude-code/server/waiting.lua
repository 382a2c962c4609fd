--- Who waits until the server accepts clients.
local M = {}

local timer = require("claude-code.lib.timer")

--- For an executable that is there: the CLI looks for its editor only once, so it starts without one
--- rather than late.
local LIMIT_MS = 3000

---@alias claude-code.ReadyCallback fun(ready: boolean?, message: string?)

---@type { callback: claude-code.ReadyCallback, cancel_limit?: fun() }[]
local entries = {}

---@param callback claude-code.ReadyCallback
function M.add(callback)
  table.insert(entries, { callback = callback })
end

--- Answers all of them.
---@param ready boolean?
---@param message? string
function M.answer(ready, message)
  local answered = entries
  entries = {}
  for _, entry in ipairs(answered) do
    if entry.cancel_limit then
      entry.cancel_limit()
    end
    entry.callback(ready, message)
  end
end

--- Those that wait without a limit get an answer three seconds from now at the latest.
function M.limit()
  for _, entry in ipairs(entries) do
    entry.cancel_limit = entry.cancel_limit
      or timer.once(LIMIT_MS, function()
        entries = vim.tbl_filter(function(other)
          return other ~= entry
        end, entries)
        entry.callback(nil, ("the server is not ready after %d s"):format(LIMIT_MS / 1000))
      end)
  end
end

return M
