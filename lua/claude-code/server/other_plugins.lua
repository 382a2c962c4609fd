--- Other plugins for Claude Code that conflict with this one.
local M = {}

---@return string? problem, string? remedy
function M.problem()
  local own = require("claude-code.install.release").root()
  local found = vim.api.nvim_get_runtime_file("lua/claude-code/init.lua", true)
  local other = vim.iter(found):map(vim.uv.fs_realpath):find(function(file)
    return file ~= vim.uv.fs_realpath(own .. "/lua/claude-code/init.lua")
  end)
  if other then
    local folder = vim.fn.fnamemodify(other, ":~:h:h:h")
    return "another plugin has the Lua module claude-code, too: it is in " .. folder,
      "remove one of the two"
  elseif package.loaded["claudecode"] then
    return "coder/claudecode.nvim is loaded, too, so that Claude finds two servers in this Neovim, and "
      .. ":ClaudeCode belongs to the plugin that was loaded last",
      "remove one of the two plugins"
  end
end

function M.report()
  local problem, remedy = M.problem()
  if problem then
    require("claude-code.messages.notify").warn(("%s; %s"):format(problem, remedy))
  end
end

return M
