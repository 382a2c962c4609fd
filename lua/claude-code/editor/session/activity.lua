--- Whether Claude works or waits for the user. Only a hook reports that a turn ends, so a CLI without
--- hooks does not count. That one begins its IDE connection reports: each prompt closes all diffs.
local M = {}

---@alias claude-code.Activity "working"|"idle"

---@type table<integer, claude-code.Activity> by the CLI's process
local known = {}
--- CLIs that were given a prompt before their first hook came.
---@type table<integer, true>
local prompted = {}
---@type claude-code.Activity?
local emitted

---@param pid integer
---@return boolean
local function is_alive(pid)
  return vim.uv.kill(pid, 0) == 0
end

--- "working" if any CLI is. Nil if no CLI with hooks runs.
---@return claude-code.Activity?
function M.get()
  local activity
  for pid, doing in pairs(known) do
    if not is_alive(pid) then
      known[pid] = nil
    elseif doing == "working" then
      return "working"
    else
      activity = "idle"
    end
  end
  return activity
end

---@param pid? integer the CLI's process; nil: an older CLI, which does not send it
---@param doing? claude-code.Activity nil: it ended
function M.set(pid, doing)
  if not pid then
    return
  end
  known[pid], prompted[pid] = doing, nil
  local now = M.get()
  if now ~= emitted then
    emitted = now
    require("claude-code.events").emit("ActivityChanged", { activity = now })
  end
end

--- A session started. That hook takes its time, and may come after the first prompt.
---@param pid? integer
function M.on_start(pid)
  M.set(pid, prompted[pid or 0] and "working" or "idle")
end

--- A CLI was given a prompt. It counts once its first hook has come.
---@param params { pid: integer }
---@return true
function M.on_prompt(params)
  if known[params.pid] then
    M.set(params.pid, "working")
  else
    prompted[params.pid] = true
  end
  return true
end

return M
