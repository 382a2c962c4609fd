--- The subcommands for Claude's terminals, sessions and git worktrees. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

local function terminal()
  return require("claude-code.terminal")
end

local function running()
  return require("claude-code.terminal.running")
end

local function words(args)
  return require("claude-code.lib.text").words(args.args)
end

local function worktrees(lead, before)
  local names = require("claude-code.editor.worktree").names()
  return before == "" and complete.starting_with(names, lead) or {}
end

---@param action? "show"|"home"|"remove" nil: the user chooses one
local function with_worktree(action)
  return function(args)
    require("claude-code.editor.worktree").with_named(vim.trim(args.args), function(tree)
      local worktree = require("claude-code.editor.worktree")
      if action then
        worktree[action](tree, args.bang)
      else
        worktree.choose_action(tree.path)
      end
    end)
  end
end

---@type table<string, claude-code.Subcommand>
return {
  --- Starts the Claude CLI in a terminal, in the tab page's folder and connected to this Neovim. If the
  --- CLI already runs, hides or shows its window. The CLI gets {args} when it starts: options
  --- (`--continue` continues the last conversation in this folder, `--resume` lets you choose one), or
  --- a prompt in quotes. With ! it restarts a running CLI. {N} is the number of a session, by default
  --- the current one (|claude-code-sessions|). `:2Claude` is the same in a buffer with two lines or
  --- more.
  [""] = {
    args = "[N] [args]",
    bang = true,
    range = "session",
    complete = complete.cli_arguments,
    run = function(args)
      local n = args.session
      if n and not terminal().has(n) then
        local text =
          "there is no Claude session %d; :Claude sessions lists them, :Claude new starts one"
        return notify.error(text:format(n))
      elseif running().is_any_open() then
        -- Messages about a stopped or failed server promise this.
        require("claude-code.server").ensure({ is_wanted = true })
      end
      terminal().toggle(words(args), { n = n, restart = args.bang })
    end,
  },

  --- Moves to Claude's terminal. Starts Claude with {args}, or shows its window, if necessary.
  focus = {
    args = "[args]",
    complete = complete.cli_arguments,
    run = function(args)
      terminal().open(words(args))
    end,
  },

  --- Ends the CLI of the current session, or cancels a start that waits for the executable. A CLI that
  --- works or asks something ends only with !. The window then shows the next session, if there is one.
  close = {
    bang = true,
    run = function(args)
      if not terminal().close(args.bang) then
        notify.info("no Claude runs in this Neovim")
      end
    end,
  },

  --- Lets you choose a model, and starts Claude with it and with {args}. A Claude that runs switches to
  --- it, or its prompt receives `/model` for you to submit. With ! it restarts Claude.
  model = {
    args = "[args]",
    bang = true,
    complete = complete.cli_arguments,
    run = function(args)
      vim.ui.select(complete.MODELS, { prompt = "Model for Claude:" }, function(name)
        if name and (args.bang or not running().is_any_open()) then
          local arguments = vim.list_extend({ "--model", name }, words(args))
          return terminal().open(arguments, { restart = args.bang })
        end
        local command, prompt = "/model " .. (name or ""), require("claude-code.terminal.prompt")
        -- The user may have begun a prompt, which a paste must not submit.
        local submit = require("claude-code.sessions.mod").has(running().current() or -1)
        if name then
          prompt.send(command, { submit = submit, name = command }, function(is_sent)
            if is_sent and not submit then
              notify.info(("Claude's prompt has %s; submit it there"):format(command))
            end
          end)
        end
      end)
    end,
  },

  --- Starts another Claude in the tab page's folder, with {args}: `-n NAME` names the session,
  --- `-w [NAME]` gives it its own git worktree. See |claude-code-sessions|.
  new = {
    args = "[args]",
    complete = complete.cli_arguments,
    run = function(args)
      terminal().new(words(args))
    end,
  },

  --- Lets you choose a session of this Neovim, elsewhere or in the background, and shows it, or a past
  --- conversation, and resumes it. With ! you choose an action on its git worktree, see
  --- |claude-code-worktree|.
  sessions = {
    bang = true,
    run = function(args)
      if not args.bang then
        return terminal().list()
      end
      terminal().choose_any("Sessions, for their worktrees", function(row)
        require("claude-code.editor.worktree").choose_action(row.cwd)
      end)
    end,
  },

  --- Shows the conversation of the current session, or of session {N}, as Markdown in Claude's window.
  --- With ! you choose one, which may be past. See |claude-code-transcript|.
  transcript = {
    args = "[N]",
    bang = true,
    range = "session",
    complete = complete.sessions,
    run = function(args)
      terminal().with_named(args, function(n)
        local current = n or running().current()
        local transcript = require("claude-code.editor.transcript")
        if args.bang or not (current or vim.bo.buftype == "terminal") then
          terminal().choose_any("Show the conversation", transcript.of_row)
        elseif current then
          transcript.of_row(require("claude-code.sessions").get(current))
        else
          -- In a terminal whose session has ended, a list would take the user's next keys.
          notify.info("this session has ended; :Claude transcript! lists past conversations")
        end
      end)
    end,
  },

  --- Lists in the quickfix window what Claude read, searched and edited in the current session's last
  --- turn; `turn 3` means its third turn, `session` all.
  trail = {
    args = "[turn N|session]",
    complete = function(lead)
      return complete.starting_with({ "turn", "session" }, lead)
    end,
    run = function(args)
      local row = require("claude-code.sessions").get(running().current() or -1)
      local named = { [""] = "last", turn = "last", session = "all" }
      local turn = tonumber(args.args:match("^turn%s+(%d+)%s*$")) or named[args.args]
      if not turn then
        return notify.error(":Claude trail takes `turn N` or `session`")
      elseif not (row and row.id) then
        return notify.info("no Claude session runs; :Claude starts one")
      end
      require("claude-code.editor.transcript").trail(row, turn)
    end,
  },

  --- Opens a window that shows what Claude reads and edits, or closes it. {N} is the number of a
  --- session. See |claude-code-trail|.
  follow = {
    args = "[N]",
    range = "session",
    complete = complete.sessions,
    run = function(args)
      terminal().with_named(args, require("claude-code.editor.transcript.follow").toggle)
    end,
  },

  --- Moves to the session that has needed your input longest, else to a finished one that you have not
  --- seen, else to the one with the next number.
  next = {
    run = function()
      local n = terminal().next()
      if n then
        running().focus(n)
      else
        notify.info("no Claude session runs; :Claude starts one")
      end
    end,
  },

  --- Lets Claude edit a file with your unsaved edits now, not after a minute. See
  --- |claude-code-option-wait_for_unsaved|.
  ["go-on"] = {
    run = function()
      require("claude-code.editor.documents.hold").go_on()
    end,
  },

  --- Lets you answer the question of session {N}, by default the current one, or else the one that has
  --- asked longest. Needs the option `permissions.answer`, see |claude-code-answer|.
  answer = {
    args = "[N]",
    range = "session",
    complete = complete.sessions,
    run = function(args)
      terminal().with_named(args, require("claude-code.permissions.answer").run)
    end,
  },

  --- Lets you show, bring home or remove a git worktree of this repository. {name} is the worktree's, or
  --- the number or name of a session in it, by default of the tab page or the current session. See
  --- |claude-code-worktree|.
  worktree = { args = "[name]", complete = worktrees, run = with_worktree() },

  --- Moves to the worktree's tab page (|:tcd|), or opens one. `:Claude` there shows the session that
  --- runs in the worktree.
  ["worktree show"] = { args = "[name]", complete = worktrees, run = with_worktree("show") },

  --- Applies the worktree's changes since its branch point here, unstaged; with ! also if some files
  --- cannot be merged. See |claude-code-worktree|.
  ["worktree home"] = {
    args = "[name]",
    bang = true,
    complete = worktrees,
    run = with_worktree("home"),
  },

  --- Removes the worktree, including files that git ignores; its branch stays. It refuses if work would
  --- be lost, if a session, a terminal, a buffer or a window's folder is in it, or if git has locked
  --- it.
  ["worktree remove"] = { args = "[name]", complete = worktrees, run = with_worktree("remove") },
}
