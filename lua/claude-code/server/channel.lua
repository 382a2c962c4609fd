--- The RPC channel to the executable: at most one is attached. It only sends; what the executable
--- calls is in editor/init.lua.
local M = {}

---@type { channel?: integer, listeners: (fun())[] } the one that is attached; who is called when it goes
local attached = { listeners = {} }

---Attaches a channel. One that was attached before is detached first.
---@param id integer as nvim_get_api_info() gives it to the executable
function M.attach(id)
  M.detach()
  attached.channel = id
end

---Detaches: from now on nothing is sent, and every listener is called.
---@param id? integer only if this channel is the attached one
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

---Calls `listener` at every detach. Registering it again changes nothing, so that whoever begins
---something on behalf of the executable may register its end each time.
---@param listener fun()
function M.on_detach(listener)
  if not vim.tbl_contains(attached.listeners, listener) then
    attached.listeners[#attached.listeners + 1] = listener
  end
end

---Is an executable attached, and its channel open? Detaches if the channel turns out to be closed:
---Neovim has no event for that.
---@return boolean
function M.is_attached()
  if attached.channel and not M.is_open(attached.channel) then
    M.detach(attached.channel)
  end
  return attached.channel ~= nil
end

---By its id: of a closed channel Neovim 0.10 gives a table that is not empty.
---@param id integer
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
