--- Which addresses an executable may be fetched from.
local M = {}

local LOOPBACK = { "127%.0%.0%.1", "localhost", "%[::1%]" }

--- Whether `url` leads to this machine by unencrypted HTTP. A name before an `@` is no host.
---@param url string
---@return boolean
function M.is_loopback(url)
  return vim.iter(LOOPBACK):any(function(host)
    local rest = url:match("^http://" .. host .. "(.*)$")
    return rest ~= nil and (rest:match("^:%d+$") or rest:match("^:%d+/") or rest:match("^/")) ~= nil
  end)
end

--- Encrypted, or not leaving this machine.
---@param url string
---@return boolean
function M.is_safe(url)
  return url:match("^https://[^/]") ~= nil or M.is_loopback(url)
end

return M
