--- Keeps account of the event loop's handles that Lua opens from now on. Returns what counts those
--- that are open, by the function that opened them. (vim.uv.walk() aborts Neovim 0.10.)
local uv = vim.uv
local open, opened = {}, 0

---@return table<string, integer>
local function count()
  local found = {}
  for handle, name in pairs(open) do
    if handle:is_closing() then
      open[handle] = nil
    else
      found[name] = (found[name] or 0) + 1
    end
  end
  return found
end

for _, name in ipairs({ "new_timer", "new_pipe", "new_fs_event", "new_fs_poll", "spawn" }) do
  local original = uv[name]
  uv[name] = function(...)
    local results = { original(...) }
    if type(results[1]) == "userdata" then
      open[results[1]] = name
      opened = opened + 1
      -- Sometimes drop the closed handles, since this list must not count as memory of the plugin.
      if opened % 100 == 0 then
        count()
      end
    end
    return unpack(results)
  end
end

return count
