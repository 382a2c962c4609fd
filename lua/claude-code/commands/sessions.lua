--- What the commands for Claude's terminals do; their comments are their documentation.
local M = {}

---@return table claude-code.messages.notify
local function notify()
  return require("claude-code.messages.notify")
end

---@return table claude-code.terminal.select
local function list()
  return require("claude-code.terminal.select")
end

---@param args claude-code.CommandArgs
---@return string[] words
local function words(args)
  return require("claude-code.terminal.shell_words").split(args.args)
end

--- Starts the Claude CLI in a terminal, in the folder of the tab page and connected to this Neovim.
--- If the CLI runs, hides its window or shows it again. {args} are passed to `claude` when it starts.
--- With ! it restarts a CLI that runs. The CLI ends with Neovim. If the executable is not installed
--- yet, Claude starts after the download. With several sessions a count is the number of one:
--- `:2ClaudeCode`; without a count it is the current one, see |claude-code-sessions|.
---@param args claude-code.CommandArgs
function M.toggle(args)
  -- A range with two ends is a visual selection.
  local n = args.range == 1 and args.count > 0 and args.count or nil
  local terminal = require("claude-code.terminal")
  if n and not terminal.has(n) then
    local text =
      "there is no Claude session %d; :ClaudeCodeSessions lists them, :ClaudeCodeNew starts one"
    return notify().error(text:format(n))
  end
  terminal.toggle(words(args), { n = n, restart = args.bang })
end

--- Moves to Claude's terminal, and starts or shows it if needed. In the terminal, moves back to the
--- previous window.
function M.focus()
  require("claude-code.terminal").focus()
end

--- Starts Claude in a terminal, or shows the one that runs and moves there. {args} and ! are those of
--- :ClaudeCode.
---@param args claude-code.CommandArgs
function M.open(args)
  require("claude-code.terminal").open(words(args), { restart = args.bang })
end

---@param args claude-code.CommandArgs
---@param first string
local function open_with(args, first)
  local arguments = vim.list_extend({ first }, words(args))
  require("claude-code.terminal").open(arguments, { restart = args.bang })
end

--- Like :ClaudeCode, with the last conversation in this folder (`--continue`).
---@param args claude-code.CommandArgs
function M.continue(args)
  open_with(args, "--continue")
end

--- Like :ClaudeCode, with a conversation that you choose in the CLI (`--resume`). {args} may begin
--- with the conversation's id.
---@param args claude-code.CommandArgs
function M.resume(args)
  open_with(args, "--resume")
end

--- Lets you choose a model. Claude starts with it and with {args}. If Claude runs already, its prompt
--- receives `/model` with the name, for you to submit. With ! Claude restarts with the model.
---@param args claude-code.CommandArgs
function M.select_model(args)
  require("claude-code.terminal.model").select(words(args), args.bang)
end

--- Ends the CLI in the terminal, or cancels a start that waits for the executable. If other sessions
--- run, the window shows the next one.
function M.close()
  if not require("claude-code.terminal").close() then
    notify().info("Claude is not running in a terminal of this Neovim")
  end
end

--- Starts another Claude beside those that run, in the folder of the tab page. {args} are passed to
--- `claude`: `-n NAME` names the session, `-w [NAME]` gives it a git worktree of its own. Each tab page
--- has one window for Claude, which shows the current session. See |claude-code-sessions|.
---@param args claude-code.CommandArgs
function M.new(args)
  require("claude-code.terminal").new(words(args))
end

--- Lets you choose a session by |vim.ui.select()|, and shows it. The list has the sessions of this
--- Neovim, with what each does or asks, those of the workspace that run elsewhere or in the background,
--- and past conversations, which are resumed.
function M.sessions()
  list().show()
end

--- Goes to the session that has needed your input longest; without one to a session that is done and
--- that you have not looked at; without one to the session with the next number.
function M.next()
  local n = list().next()
  if n then
    require("claude-code.terminal").show(n)
  else
    notify().info("no Claude session runs; :ClaudeCode starts one")
  end
end

--- Shows what a session asks, and lets you answer by |vim.ui.select()|: allow it, allow it with one of
--- the rules that Claude suggests, deny it, with a reason or without, or choose an option of a question.
--- It is the current session, or else the one that has asked longest; a count is the number of one.
--- Needs the option `permissions.answer`. Without a request it shows the terminal of a session that
--- needs input. An edit that has a diff is answered there.
---@param args claude-code.CommandArgs
function M.answer(args)
  require("claude-code.permissions.answer").run(
    args.range == 1 and args.count > 0 and args.count or nil
  )
end

---@param args claude-code.CommandArgs
---@param text string
---@param n integer
local function send_to(args, text, n)
  local send = require("claude-code.context.send")
  if text ~= "" then
    send.text(text, args.bang, n)
  else
    send.lines(args.line1, args.line2, args.bang, n)
  end
end

--- Sends to a session that need not be the current one: what |:ClaudeCodeSend| sends. {args} begin with
--- the number of the session, or its name; text may follow. Without {args} you choose the session from
--- a list.
---@param args claude-code.CommandArgs
function M.send_to(args)
  local word, text = args.args:match("^(%S+)%s*(.*)$")
  local n = word and list().find(word)
  if n then
    send_to(args, text, n)
  elseif word then
    notify().error(
      ("there is no Claude session %s here; :ClaudeCodeSessions lists them"):format(word)
    )
  elseif #list().own() == 0 then
    notify().info("no Claude session runs; :ClaudeCode starts one")
  else
    list().choose_own("Send to", function(chosen)
      send_to(args, "", chosen)
    end)
  end
end

return M
