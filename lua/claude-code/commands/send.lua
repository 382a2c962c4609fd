--- The subcommands that send something to Claude. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

--- Sends a text, or else the lines of the range. A text may begin with any word, so only `--to` names a session.
local function send(args)
  local context = require("claude-code.context.send")
  local session, text = args.args:match("^%-%-to%s+(%S+)%s*(.*)$")
  text = text or args.args
  require("claude-code.terminal").with_named({ args = session or "" }, function(n)
    if text ~= "" then
      context.text(text, args.bang, n)
    else
      context.lines(args.line1, args.line2, args.bang, n)
    end
  end)
end

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
  --- Adds {text}, or else the lines of the range or the current line, to your draft in Claude's prompt.
  --- With ! it submits them. In visual mode |<Plug>(claude-send)| sends exactly the selection. `--to`,
  --- or a count before the mapping, gives the number or name of another session.
  --- Terminals that you opened count, too; a CLI elsewhere gets a mention of the lines.
  send = {
    args = "[--to N] [text]",
    bang = true,
    range = "lines",
    complete = complete_send,
    run = send,
  },

  --- Runs a slash command (`:Claude run compact`), or one that you choose. Its answer opens in a
  --- window; if it asks something, Claude's terminal shows that.
  run = {
    args = "[command] [args]",
    complete = complete.slash_commands,
    run = function(args)
      local slash, context =
        require("claude-code.terminal.slash"), require("claude-code.context.send")
      local line = "/" .. args.args:gsub("^/", "")
      if line == "/" then
        slash.choose(function(item)
          context.text(item.text, true)
        end)
      elseif slash.parse(line) then
        context.text(line, true)
      else
        notify.error(":Claude run takes a slash command, as :Claude run compact")
      end
    end,
  },

  --- Opens a Markdown buffer with your draft of a prompt for the current session, or for session {N}.
  --- `:wq` sends it; `:q` keeps the draft. In visual mode the prompt refers to the selected lines. With
  --- ! you choose an earlier prompt. See |claude-code-prompt|.
  prompt = {
    args = "[N]",
    bang = true,
    range = "session",
    complete = complete.sessions,
    run = function(args)
      require("claude-code.terminal").with_named(args, function(n)
        local prompt = require("claude-code.editor.prompt")
        if args.bang then
          return require("claude-code.editor.prompt.history").choose(function(text)
            prompt.open(n, false, text)
          end)
        end
        prompt.open(n, args.range == 2)
      end)
    end,
  },

  --- Asks about the lines of the range or the current line, in a float beside them: {text} at once.
  --- `<CR>` submits your question with the lines. With !, or by `<C-s>`, it is aside: only the float gets
  --- question and answer. `q` closes it.
  ask = {
    args = "[text]",
    bang = true,
    range = "lines",
    complete = complete.files,
    run = function(args)
      local question = args.args ~= "" and args.args or nil
      require("claude-code.editor.prompt.ask").open(args.line1, args.line2, question, args.bang)
    end,
  },

  --- Adds the current file to Claude's prompt as `@file`, the lines of a range as `@file#L3-5`, or
  --- entries of a list of files (|claude-code-mentions|). {paths} are other files and folders, or one
  --- file with its first and last line; quote names with spaces. The mention waits up to a minute for
  --- a CLI to connect.
  mention = {
    args = "[paths]",
    range = "lines",
    complete = complete.paths,
    run = function(args)
      require("claude-code.context.mention").command(args)
    end,
  },

  --- Sends the lines of the range or the current line, with their diagnostics, and asks Claude to fix
  --- them. A CLI elsewhere gets a mention of the lines. With ! it sends the problems that language
  --- servers found after Claude's last turn in files that it edited.
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
