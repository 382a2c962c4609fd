--- Sessions whose terminals outlive Neovim (`terminal.keep`): the server's start adopts those that
--- another Neovim has left.
local M = {}

local GROUP = "claude-code.terminal.kept"

local function on_server_started()
  require("claude-code.terminal.running").adopt()
  require("claude-code.terminal.providers.tmux").mark_all()
end

---@param enabled boolean the option
function M.set(enabled)
  local group = vim.api.nvim_create_augroup(GROUP, { clear = true })
  if enabled then
    vim.api.nvim_create_autocmd("User", {
      group = group,
      pattern = "ClaudeCodeServerStarted",
      callback = on_server_started,
    })
  end
end

return M
