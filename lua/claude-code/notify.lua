--- Messages to the person, in the plugin's name. Each is also written to the log. Shown a moment
--- later: by then a notification plugin may be there, and Neovim does not take an error's text for
--- a failure of the script that runs just now.
local M = {}

---@param level integer vim.log.levels
---@param name claude-code.LogLevel
---@return fun(text: string)
local function teller(level, name)
  return function(text)
    require("claude-code.log")[name](text)
    vim.schedule(function()
      vim.notify("claude-code.nvim: " .. text, level, { title = "claude-code.nvim" })
    end)
  end
end

M.error = teller(vim.log.levels.ERROR, "error")
M.warn = teller(vim.log.levels.WARN, "warn")
M.info = teller(vim.log.levels.INFO, "info")

return M
