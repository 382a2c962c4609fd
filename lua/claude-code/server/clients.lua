--- Clients of the executable, as it reports them, and the events of those that come and go.
local M = {}

---@class claude-code.Client
---@field id integer|string
---@field name? string once it has named itself
---@field version? string
---@field pid? integer

---@param clients claude-code.Client[]
---@return table<any, claude-code.Client> those that have a name, by id
local function named(clients)
  local result = {}
  for _, client in ipairs(clients) do
    if client.name then
      result[client.id] = client
    end
  end
  return result
end

---@param before claude-code.Client[]
---@param now claude-code.Client[]
function M.emit_changes(before, now)
  local events = require("claude-code.lib.events")
  local old, new = named(before), named(now)
  for id, client in pairs(old) do
    if not new[id] then
      events.emit("ClientDisconnected", client)
    end
  end
  for id, client in pairs(new) do
    if not old[id] then
      events.emit("ClientConnected", client)
    end
  end
end

return M
