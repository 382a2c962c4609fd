--- The subcommands that send something to Claude. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")

--- Sends a text, or else the lines of the range. Nothing but `--to` makes a word the name of a session: a text
--- may begin with any other.
---@param args claude-code.CommandArgs
local function send(args)
  local context = require("claude-code.context.send")
  local session, text = args.args:match("^%-%-to%s+(%S+)%s*(.*)$")
  text = text or args.args
  require("claude-code.terminal.select").with_named({ args = session or "" }, function(n)
    if text ~= "" then
      context.text(text, args.bang, n)
    else
      context.lines(args.line1, args.line2, args.bang, n)
    end
  end)
end

---@param lead string
---@param before string
---@return string[]
local function complete_send(lead, before)
  if before:find("^%-%-to%s+$") then
    return complete.sessions(lead, "")
  elseif before == "" and lead:find("^%-") then
    return complete.starting_with({ "--to" }, lead)
  end
  return complete.files(lead)
end

---@type table<string, claude-code.Subcommand>
return {
  --- Pastes {args}, or else the lines of the range, into the prompt of the CLI in the terminal. The
  --- default is the current line. With ! it also submits the prompt. In visual mode the mapping
  --- |<Plug>(claude-send)| sends exactly the selection. Whole lines end with a line break, so that
  --- what you send next begins a line of its own. A terminal that you opened yourself works too. A CLI
  --- that runs outside of this Neovim receives a mention of the lines instead. Of several sessions the current
  --- one receives it, or the one whose number or name you give: `:Claude send --to docs {text}`. A count before
  --- the mapping is the number of a session.
  send = {
    args = "[--to N] [text]",
    bang = true,
    range = "lines",
    complete = complete_send,
    run = send,
  },

  --- Opens a Markdown buffer for a prompt of the current session, or of session {N}, below Claude's window, with the
  --- draft that you had begun. `:wq` sends it; `:q` keeps it as a draft, and so does the end of Neovim. Completion
  --- (|i_CTRL-X_CTRL-O|, or a completion plugin) names files and symbols after `@`, commands and skills after `/`. See
  --- |claude-code-prompt|.
  prompt = {
    args = "[N]",
    range = "session",
    complete = complete.sessions,
    run = function(args)
      local prompt = require("claude-code.editor.prompt")
      require("claude-code.terminal.select").with_named(args, prompt.open)
    end,
  },

  --- Adds the current file to the prompt of the current session, or else of the CLI that was active last,
  --- as `@file`. With a range, or in visual mode, adds its lines as `@file#L3-5`. In a file explorer or
  --- another list of files (|claude-code-mentions|) adds the entries on those lines, or those that are
  --- marked there. {args} name other files and folders, or one file, its first line and perhaps the last
  --- one; quote names with spaces. If no CLI is connected, the mention waits for one, a minute
  --- at most.
  mention = {
    args = "[paths]",
    range = "lines",
    complete = complete.paths,
    run = function(args)
      require("claude-code.context.mention").command(args)
    end,
  },

  --- Sends the lines of the range with their diagnostics to Claude and asks it to fix them. The default
  --- is the current line; without diagnostics there nothing is sent. The message goes into the prompt of the
  --- CLI in a terminal of this Neovim. A CLI outside of this Neovim receives a mention of the lines; the
  --- message is then in the clipboard for you to paste, or in the unnamed register. With ! it sends, instead, the
  --- problems that language servers found, after Claude's last turn, in files that it edited.
  diagnostics = {
    bang = true,
    range = "lines",
    run = function(args)
      local context = require("claude-code.context.send")
      if args.bang then
        context.problems()
      else
        context.diagnostics(args.line1, args.line2)
      end
    end,
  },
}
