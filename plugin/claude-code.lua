if vim.g.loaded_claude_code then
  return
end
vim.g.loaded_claude_code = true

if vim.fn.has("nvim-0.10") == 0 then
  local text = "claude-code.nvim needs Neovim 0.10 or newer"
  vim.api.nvim_echo({ { text, "WarningMsg" } }, true, {})
  return
end

--- <Plug>(NAME) does what :NAME does.
---@param modes string|string[]
---@param name string
---@param action string
---@param desc string
local function plug(modes, name, action, desc)
  vim.keymap.set(modes, ("<Plug>(%s)"):format(name), action, { desc = "Claude Code: " .. desc })
end

---@type table<string, [string, string, vim.api.keyset.user_command?]> what define() received
local defined = {}

--- Makes a command, and its mapping in normal mode. Nothing is loaded, and nothing started, until a
--- command is used or setup() is called.
---@param name string
---@param method string a function of claude-code.commands; its comment is its documentation
---@param desc string
---@param options? vim.api.keyset.user_command
local function define(name, method, desc, options)
  defined[name] = { method, desc, options }
  -- Without arguments `|` and another command may follow; in a text or a path it is a character.
  local is_bare = (options or {}).nargs == nil
  vim.api.nvim_create_user_command(name, function(args)
    require("claude-code.commands")[method](args)
    require("claude-code.server.channel").log_event("run_claude_command", { command = name })
  end, vim.tbl_extend("error", { desc = "Claude Code: " .. desc, bar = is_bare }, options or {}))
  -- A count goes along where the command takes one.
  local count = options and type(options.range) == "number" and "execute v:count .. '%s'" or "%s"
  plug("n", name, ("<Cmd>" .. count .. "<CR>"):format(name), desc)
end

--- Another name for a command.
---@param name string
---@param original string
local function alias(name, original)
  define(name, unpack(defined[original], 1, 3))
end

--- Completion for a command that hands its arguments to the Claude CLI.
local function cli_arguments(lead, line, position)
  return require("claude-code.completion").cli_arguments(lead, line, position)
end

--- "file" would do, but that makes Neovim replace each % and # of a sentence by a file's name.
local function files(lead)
  return vim.fn.getcompletion(lead, "file")
end

local for_cli = { nargs = "*", bang = true, complete = cli_arguments }

define("ClaudeCode", "toggle", "start, hide or show Claude in a terminal", {
  nargs = "*",
  bang = true,
  range = 0, -- the number of a session
  addr = "other", -- … which need not be that of a line
  complete = cli_arguments,
})
define("ClaudeCodeNew", "new", "start another Claude beside those that run", {
  nargs = "*",
  complete = cli_arguments,
})
define("ClaudeCodeSessions", "sessions", "choose a session from a list")
define("ClaudeCodeNext", "next", "go to the session that needs you")
define("ClaudeCodeAnswer", "answer", "answer what a session asks", { range = 0, addr = "other" })
define("ClaudeCodeOpen", "open", "start or show Claude, and move there", for_cli)
define("ClaudeCodeFocus", "focus", "move to Claude's terminal, or back")
define("ClaudeCodeContinue", "continue", "start Claude with the last conversation", for_cli)
define("ClaudeCodeResume", "resume", "start Claude with a conversation that you choose", for_cli)
define("ClaudeCodeSelectModel", "select_model", "choose Claude's model", for_cli)
define("ClaudeCodeClose", "close", "end Claude in its terminal")
define("ClaudeCodeSend", "send", "paste lines or text into Claude's prompt", {
  nargs = "*",
  range = true,
  bang = true,
  complete = files,
})
define("ClaudeCodeSendTo", "send_to", "paste lines or text into the prompt of a session", {
  nargs = "*",
  range = true,
  bang = true,
  complete = function(lead, line)
    return require("claude-code.completion").sessions(lead, line)
  end,
})
define("ClaudeAtMention", "at_mention", "add the file, lines or paths to Claude's prompt", {
  nargs = "*",
  range = true,
  complete = "file",
})
define("ClaudeCodeAdd", "add", "add a file, or lines of it, to Claude's prompt", {
  nargs = "+",
  complete = "file",
})
define("ClaudeSendWithDiagnostics", "send_with_diagnostics", "send lines with their diagnostics", {
  range = true,
})
define("ClaudeCodeSendProblems", "send_problems", "send problems that were found after its turn")
define("ClaudeInstallMCP", "install_mcp", "set up the project for a CLI outside of Neovim")
define("ClaudeUninstallMCP", "uninstall_mcp", "remove what :ClaudeInstallMCP added")
define("ClaudeCodeDiffAccept", "diff_accept", "accept the proposed edit on screen", { bang = true })
define("ClaudeCodeDiffDeny", "diff_deny", "reject the proposed edit on screen", {
  nargs = "*",
  complete = files,
})
define("ClaudeCodeCloseAllDiffs", "close_all_diffs", "reject all proposed edits that wait")
define("ClaudeCodeDiffHunkAccept", "diff_hunk_accept", "accept the hunk under the cursor")
define("ClaudeCodeDiffHunkDrop", "diff_hunk_drop", "drop the hunk under the cursor")
define("ClaudeCodeDiffNext", "diff_next", "show the next proposed edit")
define("ClaudeCodeDiffPrevious", "diff_previous", "show the previous proposed edit")
define("ClaudeCodeDiffMerge", "diff_merge", "merge your unsaved edits into the proposed edit")
define("ClaudeCodeComment", "comment", "comment on lines for Claude, or send all comments", {
  nargs = "*",
  range = true,
  bang = true,
  complete = files,
})
define("ClaudeCodeReview", "review", "review what Claude changed", {
  nargs = "*",
  bang = true,
  complete = function(lead)
    return require("claude-code.completion").review_arguments(lead)
  end,
})
define("ClaudeCodeKeep", "keep", "keep a change of Claude's", { range = true, bang = true })
define("ClaudeCodeUndo", "undo", "undo a change of Claude's", { range = true, bang = true })
define("ClaudeCodeUndoRename", "undo_rename", "take back what Claude renamed last")
define("ClaudeCodeReviewBack", "review_back", "take the last decision of a review back")
define("ClaudeCodeReviewDone", "review_done", "keep all changes that are left")
define("ClaudeCodeReviewClose", "review_close", "leave the review")
define("ClaudeCodeWhy", "why", "show where the line under the cursor is from")
define("ClaudeCodeStart", "start", "start the server")
define("ClaudeCodeStop", "stop", "stop the server")
define("ClaudeCodeStatus", "status", "show the server, its clients and its workspace")
define("ClaudeCodeInstall", "install", "install the executable, by download or from an archive", {
  bang = true,
  nargs = "?",
  complete = "file",
})
define("ClaudeCodeLog", "log", "open the log file")

-- All names complete under :ClaudeCode.
alias("ClaudeCodeMention", "ClaudeAtMention")
alias("ClaudeCodeTreeAdd", "ClaudeAtMention")
alias("ClaudeCodeSendDiagnostics", "ClaudeSendWithDiagnostics")
alias("ClaudeCodeSetupProject", "ClaudeInstallMCP")
alias("ClaudeCodeUnsetupProject", "ClaudeUninstallMCP")

-- Claude's terminal in a session file (:mksession): until :ClaudeCode resumes it, an empty one takes its
-- place. With "localoptions" the session sets 'buftype' to "terminal", which no other buffer can be.
vim.api.nvim_create_autocmd("BufReadCmd", {
  group = vim.api.nvim_create_augroup("claude-code.terminal.restored", { clear = true }),
  pattern = { "claude-code://terminal", "claude-code://terminal/*" },
  callback = function(event)
    vim.cmd("setlocal noswapfile nobuflisted bufhidden=wipe | noautocmd call nvim_open_term(0, {})")
    if package.loaded["claude-code.terminal"] then
      require("claude-code.terminal.restored").show_running(event.buf)
    end
  end,
})

-- The text of a file before Claude changed it, as a review shows a deleted file.
vim.api.nvim_create_autocmd("BufReadCmd", {
  group = vim.api.nvim_create_augroup("claude-code.review.base", { clear = true }),
  pattern = "claude-code://base/*",
  callback = function(event)
    require("claude-code.editor.review.base").load(event.buf)
  end,
})

plug({ "x", "t" }, "ClaudeCode", "<Cmd>ClaudeCode<CR>", "toggle the terminal")
plug({ "x", "t" }, "ClaudeCodeFocus", "<Cmd>ClaudeCodeFocus<CR>", "move to the terminal, or back")
plug("x", "ClaudeCodeSend", '<Cmd>lua require("claude-code.context.send").selection()<CR>', "send")
plug("x", "ClaudeCodeSendTo", ":ClaudeCodeSendTo<CR>", "send the lines to a session")
plug("t", "ClaudeCodeNext", "<Cmd>ClaudeCodeNext<CR>", "go to the session that needs you")
plug("t", "ClaudeCodeAnswer", "<Cmd>ClaudeCodeAnswer<CR>", "answer what a session asks")
plug("t", "ClaudeCodeSessions", "<Cmd>ClaudeCodeSessions<CR>", "choose a session from a list")
plug("x", "ClaudeAtMention", "<Cmd>ClaudeAtMention<CR>", "mention the lines")
plug("x", "ClaudeCodeComment", ":ClaudeCodeComment<CR>", "comment on the lines")
plug("x", "ClaudeCodeKeep", ":ClaudeCodeKeep<CR>", "keep the lines")
plug("x", "ClaudeCodeUndo", ":ClaudeCodeUndo<CR>", "undo the lines")
plug(
  "x",
  "ClaudeSendWithDiagnostics",
  ":ClaudeSendWithDiagnostics<CR>",
  "send lines with their diagnostics"
)

vim.api.nvim_create_autocmd("VimLeavePre", {
  group = vim.api.nvim_create_augroup("claude-code.diff.exit", { clear = true }),
  callback = function()
    local diff = package.loaded["claude-code.editor.diff"]
    if diff then
      diff.exit()
    end
  end,
})
