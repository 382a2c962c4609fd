--- The RPC channel to the executable: at most one is attached. It only sends; what the executable
--- calls is in editor/init.lua.
local M = {}

local channel ---@type integer?
local listeners = {} ---@type (fun())[]

---Attaches a channel. One that was attached before is detached first.
---@param id integer as nvim_get_api_info() gives it to the executable
function M.attach(id)
  M.detach()
  channel = id
end

---Detaches: from now on nothing is sent, and every listener is called.
---@param id? integer only if this channel is the attached one
function M.detach(id)
  if not channel or (id and id ~= channel) then
    return
  end
  channel = nil
  for _, listener in ipairs(listeners) do
    listener()
  end
end

---Calls `listener` at every detach. Registering it again changes nothing, so that whoever begins
---something on behalf of the executable may register its end each time.
---@param listener fun()
function M.on_detach(listener)
  if not vim.tbl_contains(listeners, listener) then
    listeners[#listeners + 1] = listener
  end
end

---Is an executable attached, and its channel open? Detaches if the channel turns out to be closed:
---Neovim has no event for that.
---@return boolean
function M.is_attached()
  if channel and not M.is_open(channel) then
    M.detach(channel)
  end
  return channel ~= nil
end

---By its id: of a closed channel Neovim 0.10 gives a table that is not empty.
---@param id integer
---@return boolean
function M.is_open(id)
  return vim.api.nvim_get_chan_info(id).id ~= nil
end

---Sends an event to the executable.
---@param event "state"|"diff_ended"|"selection"|"mention"|"mentions_withdrawn"|"log_event"|"review"|"undo_rename"
---@param payload table
---@return boolean sent
function M.notify(event, payload)
  if not channel then
    return false
  end
  local target = channel
  local ok = pcall(vim.rpcnotify, target, "claude_code", event, payload)
  if not ok then
    vim.schedule(function()
      M.detach(target)
    end)
  end
  return ok
end

---Reports to clients what the user did with the plugin (spec 03, 5.4).
---@param name "run_claude_command"
---@param data table<string, any> not empty
function M.log_event(name, data)
  M.notify("log_event", { name = name, data = data })
end

return M
