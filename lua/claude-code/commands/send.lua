--- The subcommands that send something to Claude. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")

--- Sends a text, or else the lines of the range.
---@param args claude-code.CommandArgs
---@param n? integer number of a session; the current one if left out
local function send(args, text, n)
  local context = require("claude-code.context.send")
  if text ~= "" then
    context.text(text, args.bang, n)
  else
    context.lines(args.line1, args.line2, args.bang, n)
  end
end

---@param args claude-code.CommandArgs
local function send_to(args)
  local list = require("claude-code.terminal.select")
  local word, text = args.args:match("^(%S+)%s*(.*)$")
  if word then
    return list.with_named({ args = word }, function(n)
      send(args, text, n)
    end)
  end
  list.choose_own("Send to", function(n)
    send(args, "", n)
  end)
end

---@type table<string, claude-code.Subcommand>
return {
  --- Pastes {args}, or else the lines of the range, into the prompt of the CLI in the terminal. The
  --- default is the current line. With ! it also submits the prompt. In visual mode the mapping
  --- |<Plug>(claude-send)| sends exactly the selection. Whole lines end with a line break, so that
  --- what you send next begins a line of its own. A terminal that you opened yourself works too. A CLI
  --- that runs outside of this Neovim receives a mention of the lines instead.
  send = {
    args = "[text]",
    bang = true,
    range = "lines",
    complete = complete.files,
    run = function(args)
      send(args, args.args)
    end,
  },

  --- Sends to a session that need not be the current one: what `:Claude send` sends. {args} begin with
  --- the number of the session, or its name; text may follow. Without {args} you choose the session from
  --- a list.
  ["send-to"] = {
    args = "[session] [text]",
    bang = true,
    range = "lines",
    complete = complete.sessions,
    run = send_to,
  },

  --- Opens a Markdown buffer for a prompt of the current session, or of session {N}, below Claude's window, with the
  --- draft that you had begun. `:wq` sends it; `:q` keeps it as a draft, and so does the end of Neovim. Completion
  --- (|i_CTRL-X_CTRL-O|, or a completion plugin) names files and symbols after `@`, commands and skills after `/`, and
  --- `{selection}`, `{diagnostics}`, `{quickfix}`, `{diff}`, which are put in when it is sent. See
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

  --- Writes the image on the clipboard into a file of your own, and puts its path into the prompt: that of
  --- `:Claude prompt` if the cursor is there, else that in Claude's terminal.
  ["paste-image"] = {
    run = function()
      require("claude-code.editor.prompt.image").paste()
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
  --- message is then in the clipboard for you to paste, or in the unnamed register.
  diagnostics = {
    range = "lines",
    run = function(args)
      require("claude-code.context.diagnostics").lines(args.line1, args.line2)
    end,
  },

  --- Sends the problems to Claude that language servers found, after Claude's last turn, in files that
  --- it edited. They go the same way as those of `:Claude diagnostics`.
  problems = {
    run = function()
      require("claude-code.context.diagnostics").problems()
    end,
  },
}
