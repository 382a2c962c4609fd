--- The commands that were names of their own before `:Claude`: what is typed now.
local M = {}

--- Those that are not the new name in another spelling, as ClaudeCodeDiffNext was of `:Claude diff next`.
---@type table<string, string> without the colon
M.OTHERS = {
  ClaudeCodeContinue = "Claude --continue",
  ClaudeCodeDiffHunkAccept = "Claude diff accept-hunk",
  ClaudeCodeDiffHunkDrop = "Claude diff drop-hunk",
  ClaudeCodeResume = "Claude --resume",
  ClaudeCodeReviewBack = "Claude back",
  ClaudeCodeSendDiagnostics = "Claude diagnostics",
  ClaudeCodeSendProblems = "Claude problems",
  ClaudeCodeSendText = "Claude send! TEXT",
  ClaudeCodeSendTo = "Claude send-to",
  ClaudeCodeSetupProject = "Claude setup",
  ClaudeCodeUnsetupProject = "Claude unsetup",
  ClaudeUninstallMCP = "Claude unsetup",
}

---@return string? new
local function new_name(name)
  local words = name:gsub("^ClaudeCode", ""):gsub("(%l)(%u)", "%1 %2"):lower()
  local is_known = require("claude-code.commands").list[words] ~= nil
  return M.OTHERS[name] or is_known and "Claude " .. words or nil
end

--- Says what to type instead of an unknown command. Neovim looks for the command again after CmdUndefined:
--- one that only says so spares the user its own error.
---@param name string
function M.explain(name)
  local new = new_name(name)
  if not new then
    return
  end
  vim.api.nvim_create_user_command(name, function()
    require("claude-code.messages.notify").warn((":%s is :%s now"):format(name, new))
  end, { nargs = "*", bang = true, range = true })
  vim.schedule(function()
    pcall(vim.api.nvim_del_user_command, name)
  end)
end

return M
