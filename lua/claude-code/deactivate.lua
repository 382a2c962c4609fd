--- Ends all that the plugin does, so that it can be loaded again as if for the first time.
---@param name string a module of claude-code
---@param method string called if the module is loaded
local function call(name, method)
  local module = package.loaded["claude-code." .. name]
  if module then
    module[method]()
  end
end

return function()
  call("terminal", "close_all")
  call("sessions.requests", "end_all")
  call("server.autostart", "disable")
  -- The diffs end with it, and all that follows the editor.
  call("server", "stop")
  call("keymaps", "remove")
  for _, group in ipairs(vim.fn.getcompletion("claude-code.", "augroup")) do
    vim.api.nvim_del_augroup_by_name(group)
  end
  for name in pairs(package.loaded) do
    if name:find("^claude%-code$") or name:find("^claude%-code%.") then
      package.loaded[name] = nil
    end
  end
  vim.g.loaded_claude_code = nil
end
