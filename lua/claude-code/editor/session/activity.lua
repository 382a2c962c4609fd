--- Whether Claude works or waits for the user. Its hooks tell when a turn ends, so only a CLI that
--- has them counts; that a turn begins its IDE connection tells, as each prompt closes all diffs.
local M = {}

---@alias claude-code.Activity "working"|"idle"

---@type table<integer, claude-code.Activity> by the CLI's process
local known = {}
--- CLIs that were given a prompt before a hook of theirs was heard.
---@type table<integer, true>
local asked = {}
---@type claude-code.Activity?
local told

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

---@param pid integer
---@param doing? claude-code.Activity nil: it ended
local function note(pid, doing)
  known[pid] = doing
  local now = M.get()
  if now ~= told then
    told = now
    require("claude-code.events").emit("ActivityChanged", { activity = now })
  end
end

--- What a hook's call says of its CLI. A Stop hook that then holds Claude back says so in the end.
---@type table<string, claude-code.Activity|false>
local MEANING = {
  session_start = "idle",
  session_edited = "working",
  session_summary = "idle",
  session_held = "working",
  session_released = "idle",
  session_finish = false,
}

---@param method string
---@param params { pid?: integer }
function M.heard(method, params)
  local meaning, pid = MEANING[method], params.pid
  if meaning == nil or not pid then
    return
  elseif method == "session_start" and asked[pid] then
    meaning = "working"
  end
  asked[pid] = nil
  note(pid, meaning or nil)
end

--- A CLI was given a prompt. One without hooks is left out: nobody would tell when it is done. The
--- hook of a session's start takes its time, and may come in later.
---@param params { pid: integer }
---@return true
function M.prompted(params)
  if known[params.pid] then
    note(params.pid, "working")
  else
    asked[params.pid] = true
  end
  return true
end

return M
