--- Messages to the person, in the plugin's name. Each is also written to the log. Shown a moment
--- later: by then a notification plugin may be there, and Neovim does not take an error's text for
--- a failure of the script that runs just now.
local M = {}

---@param level integer vim.log.levels
---@param name claude-code.LogLevel
---@param fit? fun(text: string): string makes the text one that may be shown now
---@return fun(text: string)
function M.teller(level, name, fit)
  return function(text)
    require("claude-code.log")[name](text)
    vim.schedule(function()
      local message = "claude-code.nvim: " .. text
      vim.notify(fit and fit(message) or message, level, { title = "claude-code.nvim" })
    end)
  end
end

M.error = M.teller(vim.log.levels.ERROR, "error")
M.warn = M.teller(vim.log.levels.WARN, "warn")
M.info = M.teller(vim.log.levels.INFO, "info")

return M
