--- The RPC channel to the executable: at most one is attached. It only sends; what the executable
--- calls is in editor/init.lua.
local M = {}

---@type { channel?: integer, listeners: (fun())[] } listeners for a detach
local attached = { listeners = {} }

---Attaches a channel, and detaches the previous one.
---@param id integer as nvim_get_api_info() gives it to the executable
function M.attach(id)
  M.detach()
  attached.channel = id
end

---@param id? integer detach only this channel
function M.detach(id)
  if not attached.channel or (id and id ~= attached.channel) then
    return
  end
  attached.channel = nil
  for _, listener in ipairs(attached.listeners) do
    listener()
  end
end

---Detaches, and closes the channel: a call that is on its way is lost.
function M.close()
  local id = attached.channel
  M.detach()
  pcall(vim.fn.chanclose, id)
end

---Calls `listener` at every detach. Registering it again changes nothing.
---@param listener fun()
function M.on_detach(listener)
  if not vim.tbl_contains(attached.listeners, listener) then
    attached.listeners[#attached.listeners + 1] = listener
  end
end

---Detaches a channel that is closed, for which Neovim has no event.
---@return boolean is an executable attached, and its channel open?
function M.is_attached()
  if attached.channel and not M.is_open(attached.channel) then
    M.detach(attached.channel)
  end
  return attached.channel ~= nil
end

---@param id integer for a closed channel Neovim 0.10 returns a table without it, but not an empty one
---@return boolean
function M.is_open(id)
  return vim.api.nvim_get_chan_info(id).id ~= nil
end

---@param event "state"|"diff_ended"|"selection"|"mention"|"mentions_withdrawn"|"log_event"|"request"
---@param payload table
---@return boolean sent
function M.notify(event, payload)
  if not attached.channel then
    return false
  end
  local target = attached.channel
  local ok = pcall(vim.rpcnotify, target, "claude_code", event, payload)
  if not ok then
    vim.schedule(function()
      M.detach(target)
    end)
  end
  return ok
end

return M
