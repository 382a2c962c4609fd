--- The commands that were names of their own before `:Claude`.
local M = {}

---@type table<string, string> what is typed now, without the colon
M.NEW = {
  ClaudeCodeAnswer = "Claude answer",
  ClaudeCodeComment = "Claude comment",
  ClaudeCodeContinue = "Claude --continue",
  ClaudeCodeDiffHunkAccept = "Claude diff accept-hunk",
  ClaudeCodeDiffHunkDrop = "Claude diff drop-hunk",
  ClaudeCodeDiffMerge = "Claude diff merge",
  ClaudeCodeDiffNext = "Claude diff next",
  ClaudeCodeDiffPrevious = "Claude diff previous",
  ClaudeCodeInstall = "Claude install",
  ClaudeCodeKeep = "Claude keep",
  ClaudeCodeLog = "Claude log",
  ClaudeCodeMention = "Claude mention",
  ClaudeCodeNew = "Claude new",
  ClaudeCodeNext = "Claude next",
  ClaudeCodeResume = "Claude --resume",
  ClaudeCodeReview = "Claude review",
  ClaudeCodeReviewBack = "Claude back",
  ClaudeCodeReviewClose = "Claude review close",
  ClaudeCodeReviewDone = "Claude review done",
  ClaudeCodeSendDiagnostics = "Claude diagnostics",
  ClaudeCodeSendProblems = "Claude problems",
  ClaudeCodeSendText = "Claude send! TEXT",
  ClaudeCodeSendTo = "Claude send-to",
  ClaudeCodeSessions = "Claude sessions",
  ClaudeCodeSetupProject = "Claude setup",
  ClaudeCodeUndo = "Claude undo",
  ClaudeCodeUndoRename = "Claude undo rename",
  ClaudeCodeUnsetupProject = "Claude unsetup",
  ClaudeCodeWhy = "Claude why",
  ClaudeUninstallMCP = "Claude unsetup",
}

--- Says what to type instead of an unknown command. Neovim looks for the command again after CmdUndefined:
--- one that only says so spares the user its own error.
---@param name string
function M.explain(name)
  local new = M.NEW[name]
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
