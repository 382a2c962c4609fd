--- Other plugins for Claude Code, beside which this one cannot work.
local M = {}

--- What is wrong, and what to do.
---@return string? problem nil: there is no such plugin
function M.problem()
  local own = require("claude-code.install.plugin_files").root()
  local found = vim.api.nvim_get_runtime_file("lua/claude-code/init.lua", true)
  local other = vim.iter(found):map(vim.uv.fs_realpath):find(function(file)
    return file ~= vim.uv.fs_realpath(own .. "/lua/claude-code/init.lua")
  end)
  if other then
    local text =
      "another plugin has the Lua module claude-code, too: remove one of the two (it is in %s)"
    return text:format(vim.fn.fnamemodify(other, ":~:h:h:h"))
  elseif package.loaded["claudecode"] then
    return "coder/claudecode.nvim is loaded, too, so that Claude finds two servers in this Neovim, and "
      .. ":ClaudeCode belongs to the plugin that was loaded last: remove one of the two plugins"
  end
end

--- Says so.
function M.report()
  local problem = M.problem()
  if problem then
    require("claude-code.messages.notify").warn(problem)
  end
end

return M
