--- What the user commands do. plugin/claude-code.lua defines them; the comments in this folder are
--- their documentation.
local M = {}

---@alias claude-code.CommandArgs vim.api.keyset.create_user_command.command_args

---@return table claude-code.messages.notify
local function notify()
  return require("claude-code.messages.notify")
end

--- Pastes {args}, or else the lines of the range, into the prompt of the CLI in the terminal. The
--- default is the current line. With ! it also submits the prompt. In visual mode the mapping
--- |<Plug>(ClaudeCodeSend)| sends exactly the selection. Whole lines end with a line break, so that
--- what you send next begins a line of its own. A terminal that you opened yourself works too. A CLI
--- that runs outside of this Neovim receives a mention of the lines instead.
---@param args claude-code.CommandArgs
function M.send(args)
  local send = require("claude-code.context.send")
  if args.args ~= "" then
    send.text(args.args, args.bang)
  else
    send.lines(args.line1, args.line2, args.bang)
  end
end

--- Adds the current file to the prompt of the current session, or else of the CLI that was active last,
--- as `@file`. With a range, or
--- in visual mode, adds its lines as `@file#L3-5`. In a file explorer or another list of files
--- (|claude-code-mentions|) adds the entries on those lines, or those that are marked there. {args}
--- name other files and folders; quote names with spaces. If no CLI is connected, the mention waits for one as
--- long as the option `mention.wait_seconds` says.
---@param args claude-code.CommandArgs
function M.at_mention(args)
  require("claude-code.context.mention").command(args)
end

--- Adds a file or folder to Claude's prompt, or lines of a file: {args} are the path, and perhaps the
--- first line and the last one.
---@param args claude-code.CommandArgs
function M.add(args)
  require("claude-code.context.mention").add_command(args)
end

--- Sends the lines of the range with their diagnostics to Claude and asks it to fix them. The default
--- is the current line. The message goes into the prompt of the CLI in a terminal of this Neovim. A
--- CLI outside of this Neovim receives a mention of the lines; the message is then in the clipboard,
--- or in a file, for you to paste.
---@param args claude-code.CommandArgs
function M.send_with_diagnostics(args)
  require("claude-code.context.send_with_diagnostics").lines(args.line1, args.line2)
end

--- Sends the problems to Claude that language servers found, after Claude's last turn, in files that
--- it edited. They go the same way as those of |:ClaudeSendWithDiagnostics|.
function M.send_problems()
  require("claude-code.context.send_problems").send()
end

--- Sets up the project for a Claude CLI that you start outside of Neovim. It shows what it would
--- change, and asks first. Hooks go into .claude/settings.local.json, the MCP server nvim-lsp into the
--- CLI's own configuration, this Neovim's address into .nvim-claude/. A CLI that runs in a terminal of
--- Neovim does not need this.
function M.install_mcp()
  require("claude-code.claude.project").install()
end

--- Removes what :ClaudeInstallMCP added to the project, and nothing else.
function M.uninstall_mcp()
  require("claude-code.claude.project").uninstall()
end

--- Starts the server, whatever the option `auto_start` says.
function M.start()
  local state = require("claude-code.server").state
  if state == "stopped" or state == "failed" then
    require("claude-code").start()
  else
    notify().info(("the server is already %s; :ClaudeCodeStatus shows more"):format(state))
  end
end

--- Stops the server and disconnects its clients. It stays stopped, also after another setup(), until
--- :ClaudeCodeStart or :ClaudeCode.
function M.stop()
  local was = require("claude-code.server").state
  require("claude-code").stop()
  notify().info(was == "stopped" and "the server was not running" or "the server is stopped")
end

--- Shows the server's state, its port, its clients, the workspace and the last error in a window. `q`
--- closes it.
function M.status()
  require("claude-code.messages.float").open("Claude Code", require("claude-code.status").lines())
end

--- Reports how an installation ended. A server that failed because of it starts.
---@param executable? string
---@param message? string
local function after_install(executable, message)
  if not executable then
    return notify().error(message --[[@as string]])
  end
  notify().info("installed " .. executable)
  if require("claude-code.server").state == "failed" then
    require("claude-code").start()
  end
end

--- Was the command given to nvim itself, as in `nvim --headless +ClaudeCodeInstall +qa`? Then the
--- exit code shows a failure. A plugin manager that runs a build step goes on after an error.
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

--- Installs the executable that belongs to this version of the plugin. Downloads it, or takes it from
--- a release archive whose path you give. `!` replaces an executable that is already installed.
--- In a build step, and without a UI, the command waits and raises an error if it fails. As an argument
--- of nvim, as in `nvim --headless +ClaudeCodeInstall +qa`, it ends Neovim with the exit code 1
--- instead.
---@param args { args: string, bang: boolean } args: path of an archive, or ""
function M.install(args)
  local request = { archive = args.args ~= "" and args.args or nil, force = args.bang }
  local install = require("claude-code.install")
  local has_ui = #vim.api.nvim_list_uis() > 0
  if has_ui and not require("claude-code.install.build_step").is_running() then
    return install.start(request, after_install)
  end
  local executable, message = install.wait(request)
  if not executable then
    return fail_install(message --[[@as string]])
  elseif has_ui then
    return after_install(executable)
  end
  print("claude-code.nvim: installed " .. executable)
end

--- Opens the log file. The plugin and the executable both write to it.
function M.log()
  local path = require("claude-code.messages.log").path()
  if not vim.uv.fs_stat(path) then
    notify().info(("the log file %s does not exist yet"):format(path))
    return
  end
  vim.cmd.split({ args = { vim.fn.fnameescape(path) } })
  vim.bo.autoread = true
  vim.bo.readonly = true
  vim.cmd.normal({ args = { "G" }, bang = true })
end

---@param method "accept"|"reject"|"act"|"switch"
---@param ... any for that function
local function answer_diff(method, ...)
  local diff = require("claude-code.editor.diff")
  if diff[method](...) ~= nil then
    return
  elseif diff.count() > 0 then
    notify().warn("the diff that waits is not on screen: :ClaudeCodeDiffNext shows it")
  else
    notify().warn("no diff is waiting for an answer")
  end
end

--- Accepts the proposed edit on screen, with your own changes to it. <CR> in the diff does the same.
--- With ! also if the file is read-only, as `:w!` does.
---@param args? claude-code.CommandArgs
function M.diff_accept(args)
  answer_diff("accept", nil, args ~= nil and args.bang)
end

--- Rejects the proposed edit on screen. `q` in the diff does the same. {args} are your reason:
--- Claude receives it as your next prompt. A CLI outside of this Neovim receives a mention of the reason
--- in its prompt; press Enter there to send it. `Q` in the diff asks for a reason.
---@param args? claude-code.CommandArgs
function M.diff_deny(args)
  local reason = vim.trim(args and args.args or "")
  answer_diff("reject", nil, reason ~= "" and reason or nil)
end

--- Rejects all proposed edits that wait.
function M.close_all_diffs()
  if require("claude-code.editor.diff").reject_all() == 0 then
    notify().warn("no diff is waiting for an answer")
  end
end

--- Accepts the hunk under the cursor by itself; on an accepted hunk, takes that back. Once you have
--- accepted single hunks, accepting the proposed edit takes only those.
function M.diff_hunk_accept()
  answer_diff("act", "accept_hunk")
end

--- Drops the hunk under the cursor: its old lines come back. |u| undoes that. A proposed edit without
--- any hunk left is rejected.
function M.diff_hunk_drop()
  answer_diff("act", "drop_hunk")
end

--- Shows the proposed edit that waits, or the next of several. The one on screen waits again.
function M.diff_next()
  answer_diff("switch", 1)
end

--- Shows the proposed edit that waits, or the previous of several.
function M.diff_previous()
  answer_diff("switch", -1)
end

--- Merges your unsaved edits of the file into the proposed edit. Git merges, with the file on disk as
--- the base. If you accept the result, it also replaces the edits in their buffer. |u| undoes the
--- merge.
function M.diff_merge()
  answer_diff("act", "merge")
end

--- Those of the other files are loaded when they are first used.
return setmetatable(M, {
  __index = function(_, name)
    return require("claude-code.commands.sessions")[name]
      or require("claude-code.commands.review")[name]
  end,
})
