--- What the user commands do. plugin/claude-code.lua defines them; the comments here are their
--- documentation.
local M = {}

---@alias claude-code.CommandArgs vim.api.keyset.create_user_command.command_args

---@param args claude-code.CommandArgs
---@return string[] words
local function words(args)
  return require("claude-code.terminal.shell_words").split(args.args)
end

--- Starts the Claude CLI in a terminal, in the folder of the tab page and connected to this Neovim;
--- hides its window if it runs; shows it again. {args} are the CLI's own, at its start. With ! a CLI
--- that runs is ended, and a new one started. It ends with Neovim. While the executable is being
--- downloaded, it waits for that.
---@param args claude-code.CommandArgs
function M.toggle(args)
  local terminal = require("claude-code.terminal")
  terminal.toggle(words(args), args.bang and { restart = true } or nil)
end

--- Moves to Claude's terminal, starting or showing it if need be; from there, back to the window
--- before.
function M.focus()
  require("claude-code.terminal").focus()
end

---@param args claude-code.CommandArgs
---@param first string
local function open_with(args, first)
  local arguments = vim.list_extend({ first }, words(args))
  require("claude-code.terminal").open(arguments, { restart = args.bang })
end

--- As :ClaudeCode, with the last conversation in this folder (`--continue`).
---@param args claude-code.CommandArgs
function M.continue(args)
  open_with(args, "--continue")
end

--- As :ClaudeCode, with a conversation that the CLI lets you choose (`--resume`); {args} may begin
--- with its id.
---@param args claude-code.CommandArgs
function M.resume(args)
  open_with(args, "--resume")
end

--- Ends the CLI in the terminal, or calls off one that waits for the executable.
function M.close()
  if not require("claude-code.terminal").close() then
    require("claude-code.messages.notify").info("no Claude runs in a terminal of this Neovim")
  end
end

---@param text string
---@param submit boolean
---@param outside fun() what to do where Claude runs outside of this Neovim
local function send(text, submit, outside)
  local notify = require("claude-code.messages.notify")
  if text == "" then
    notify.warn("there is nothing to send: the text is empty")
  elseif require("claude-code.terminal.prompt").paste(text, submit) then
    return
  elseif #require("claude-code.server").clients > 0 then
    outside()
  else
    notify.warn("no Claude runs in a terminal of this Neovim; :ClaudeCode starts one")
  end
end

local function say_outside()
  local text = "Claude runs outside of this Neovim: words cannot be pasted there; lines can be "
    .. "mentioned (:ClaudeAtMention)"
  require("claude-code.messages.notify").warn(text)
end

--- What follows whole lines in the prompt begins a line of its own.
---@param lines string[]
---@param submit boolean nothing follows then
---@return string
local function whole_lines(lines, submit)
  local text = table.concat(lines, "\n")
  return (text == "" or submit) and text or text .. "\n"
end

--- Says so if the current buffer is a file that Claude is not told of.
---@return boolean
local function refused()
  local privacy = require("claude-code.editor.privacy")
  local name = vim.api.nvim_buf_get_name(0)
  if not privacy.is_private(name) then
    return false
  end
  require("claude-code.messages.notify").warn(privacy.refusal(name))
  return true
end

--- Pastes {args}, or else the lines of the range, into the prompt of the CLI in the terminal. Without
--- either it is the current line. With ! the prompt is sent off at once. In visual mode the mapping
--- |<Plug>(ClaudeCodeSend)| takes exactly what is selected. What is sent after whole lines begins a
--- line of its own. A terminal that you opened yourself will do. A CLI that runs outside of this
--- Neovim gets a mention of the lines instead.
---@param args claude-code.CommandArgs
function M.send(args)
  if args.args ~= "" then
    return send(args.args, args.bang, say_outside)
  elseif refused() then
    return
  end
  local lines = vim.api.nvim_buf_get_lines(0, args.line1 - 1, args.line2, false)
  send(whole_lines(lines, args.bang), args.bang, function()
    M.at_mention(vim.tbl_extend("force", args, { range = 2 }))
  end)
end

--- Sends what is selected in visual mode, and ends that mode.
function M.send_selection()
  local from, to, mode = vim.fn.getpos("v"), vim.fn.getpos("."), vim.fn.mode()
  local lines = vim.fn.getregion(from, to, { type = mode })
  vim.api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
  if refused() then
    return
  end
  local text = mode == "V" and whole_lines(lines, false) or table.concat(lines, "\n")
  send(text, false, function()
    local first, last = math.min(from[2], to[2]), math.max(from[2], to[2])
    M.at_mention({ args = "", fargs = {}, range = 2, line1 = first, line2 = last })
  end)
end

--- Puts the current file into the prompt of the CLI that was active last, as `@file`; with a range, or
--- in visual mode, its lines as `@file#L3-5`; in a file explorer (netrw, oil.nvim, nvim-tree, neo-tree,
--- mini.files) the entries on those lines; else the files and folders named, in quotes if need be.
--- Waits for a CLI to connect, as long as the option `mention.wait_seconds` says.
---@param args claude-code.CommandArgs
function M.at_mention(args)
  require("claude-code.context.mention").command(args)
end

--- Sends the lines of the range (without one, the current line) with what language servers say of them
--- to Claude, who is asked to mend it: into the prompt of the CLI in a terminal of this Neovim. A CLI
--- outside gets a mention of the lines, and the message goes to the clipboard, or a file, for you.
---@param args claude-code.CommandArgs
function M.send_with_diagnostics(args)
  if not require("claude-code.editor.documents.path").of_buffer(0) then
    require("claude-code.messages.notify").warn(
      "this buffer shows no file: go to one, or use :ClaudeCodeSend"
    )
    return
  end
  require("claude-code.context.send").with_diagnostics(args)
end

--- Sets the project up for a Claude CLI that you start outside of Neovim: shows what it will change,
--- and asks. Hooks go into .claude/settings.local.json, the MCP server nvim-lsp into the CLI's own
--- configuration, this Neovim's address into .nvim-claude/. A CLI inside Neovim needs none of that.
function M.install_mcp()
  require("claude-code.claude.project").install()
end

--- Takes back what :ClaudeInstallMCP has done in the project, and nothing else.
function M.uninstall_mcp()
  require("claude-code.claude.project").uninstall()
end

--- Starts the server, whatever `auto_start` says.
function M.start()
  local server = require("claude-code.server")
  if server.state == "starting" or server.state == "ready" then
    local text = "the server is %s already; :ClaudeCodeStatus tells more"
    require("claude-code.messages.notify").info(text:format(server.state))
    return
  end
  require("claude-code").start()
end

--- Stops the server; clients lose their connection. It stays stopped, also through another setup(),
--- until :ClaudeCodeStart or :ClaudeCode.
function M.stop()
  local was = require("claude-code.server").state
  require("claude-code").stop()
  local text = was == "stopped" and "the server was not running" or "the server is stopped"
  require("claude-code.messages.notify").info(text)
end

--- Shows the server's state, its port, who is connected, the workspace and the last error, in a
--- window that `q` closes.
function M.status()
  require("claude-code.messages.float").open("Claude Code", require("claude-code.status").lines())
end

--- Says how an installation ended; a server that failed for want of it starts.
---@param executable? string
---@param message? string
local function report_install(executable, message)
  local notify = require("claude-code.messages.notify")
  if not executable then
    return notify.error(message --[[@as string]])
  end
  notify.info("installed " .. executable)
  if require("claude-code.server").state == "failed" then
    require("claude-code").start()
  end
end

--- Was the command given to nvim itself, as in `nvim --headless +ClaudeCodeInstall +qa`? Then its
--- exit code tells how it went. A plugin manager that runs a build step goes on after an error.
---@return boolean
local function is_script()
  return vim.iter(vim.v.argv):any(function(word)
    return word:match("^%+?:?ClaudeCodeInstall") ~= nil
  end)
end

---@param message string
local function fail_install(message)
  message = "claude-code.nvim: " .. message
  if not is_script() then
    error(message, 0)
  end
  io.stderr:write(message .. "\n")
  vim.cmd.cquit()
end

--- Installs the executable that belongs to this version of the plugin: downloads it, or takes it
--- from the archive of a release whose path is given. `!` replaces one that is there. Without a UI,
--- as in a build step, it waits, and raises an error if it fails; on nvim's own command line, as in
--- `nvim --headless +ClaudeCodeInstall +qa`, it ends Neovim with the exit code 1 instead.
---@param args { args: string, bang: boolean } args: path of an archive, or ""; bang: even if there
function M.install(args)
  local archive = args.args ~= "" and args.args or nil
  local request = { archive = archive, force = args.bang }
  local install = require("claude-code.install")
  if #vim.api.nvim_list_uis() > 0 then
    return install.start(request, report_install)
  end
  local executable, message = install.wait(request)
  if not executable then
    return fail_install(message --[[@as string]])
  end
  print("claude-code.nvim: installed " .. executable)
end

--- Opens the log file, which the plugin and the executable share.
function M.log()
  local path = require("claude-code.messages.log").path()
  if not vim.uv.fs_stat(path) then
    require("claude-code.messages.notify").info(("nothing has been logged to %s yet"):format(path))
    return
  end
  vim.cmd.split({ args = { vim.fn.fnameescape(path) } })
  vim.bo.autoread = true
  vim.bo.readonly = true
  vim.cmd.normal({ args = { "G" }, bang = true })
end

---@param method "accept"|"reject"|"act"
---@param action? claude-code.DiffAction
local function answer_diff(method, action)
  if require("claude-code.editor.diff")[method](action) == nil then
    require("claude-code.messages.notify").warn("no diff is waiting for an answer")
  end
end

--- Accepts the proposed edit on screen, with your own changes to it; <CR> in the diff does the same.
function M.diff_accept()
  answer_diff("accept")
end

--- Rejects the proposed edit on screen; `q` in the diff does the same.
function M.diff_deny()
  answer_diff("reject")
end

--- Accepts the hunk under the cursor, or no longer if it was. Once a hunk is accepted by itself,
--- accepting the proposed edit takes such hunks only.
function M.diff_hunk_accept()
  answer_diff("act", "accept_hunk")
end

--- Puts the old lines back in place of the hunk under the cursor; |u| undoes that. A proposed edit
--- of which nothing is left is rejected.
function M.diff_hunk_drop()
  answer_diff("act", "drop_hunk")
end

--- Shows the next of several proposed edits that wait; the one on screen waits again.
function M.diff_next()
  answer_diff("act", "next_diff")
end

--- Shows the previous of several proposed edits that wait.
function M.diff_previous()
  answer_diff("act", "previous_diff")
end

--- Merges unsaved edits of the file into the proposed edit, by git, with the file on disk as the
--- base. Accepted, the result replaces the edits in their buffer too. |u| undoes the merge.
function M.diff_merge()
  answer_diff("act", "merge")
end

return M
