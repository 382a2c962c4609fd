--- The subcommands for Claude's terminals, sessions and git worktrees. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

---@return table claude-code.terminal
local function terminal()
  return require("claude-code.terminal")
end

---@return table claude-code.terminal.running
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
  --- Starts the Claude CLI in a terminal, in the folder of the tab page and connected to this
  --- Neovim. If it runs, hides or shows its window. {args} are passed to `claude` when it starts:
  --- options (`--continue` goes on with the last conversation in this folder, `--resume` lets you
  --- choose one), or a prompt in quotes. With ! a CLI that runs is restarted. {N} is the number of
  --- a session (|claude-code-sessions|); without it it is the current one. In a buffer of two lines
  --- or more `:2Claude` is the same.
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
        -- Messages about a server that was stopped, or has failed, promise this.
        require("claude-code.server").ensure({ is_wanted = true })
      end
      terminal().toggle(words(args), { n = n, restart = args.bang })
    end,
  },

  --- Moves to Claude's terminal, and starts Claude with {args}, or shows its window, if needed.
  focus = {
    args = "[args]",
    complete = complete.cli_arguments,
    run = function(args)
      terminal().open(words(args))
    end,
  },

  --- Ends the CLI of the current session, or cancels a start that waits for the executable. A CLI that
  --- works or asks something ends only with !. If other sessions run, the window shows the next one.
  close = {
    bang = true,
    run = function(args)
      if not terminal().close(args.bang) then
        notify.info("no Claude runs in this Neovim")
      end
    end,
  },

  --- Lets you choose a model. Claude starts with it and with {args}. If Claude runs already, its prompt
  --- receives `/model` with the name, for you to submit. With ! Claude restarts with the model.
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
        local command = "/model " .. (name or "")
        local prompt = require("claude-code.terminal.prompt")
        -- It is not submitted: the user may have begun a prompt.
        if name and not prompt.refuse_while_asking(command) and running().send(command) then
          notify.info(("the prompt of Claude has %s; submit it there"):format(command))
        end
      end)
    end,
  },

  --- Starts another Claude in the folder of the tab page. {args} are passed to `claude`: `-n NAME`
  --- names the session, `-w [NAME]` gives it a git worktree of its own. See |claude-code-sessions|.
  new = {
    args = "[args]",
    complete = complete.cli_arguments,
    run = function(args)
      terminal().new(words(args))
    end,
  },

  --- Lets you choose a session, and shows it: one of this Neovim, one that runs elsewhere or in the
  --- background, or a past conversation, which is resumed. With ! you choose what to do with its
  --- git worktree, see |claude-code-worktree|.
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

  --- Shows the conversation of the current session, or of session {N}, as Markdown in Claude's
  --- window. With ! you choose one, also a past one. See |claude-code-transcript|.
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
          -- A key in the terminal of one that has ended: no question takes the next ones.
          notify.info("this session has ended; :Claude transcript! lists past conversations")
        end
      end)
    end,
  },

  --- Lists in the quickfix window what Claude read, searched and edited in this turn of the current
  --- session: `turn 3` in its third turn, `session` in all of it.
  trail = {
    args = "[turn N|session]",
    complete = function(lead)
      return complete.starting_with({ "turn", "session" }, lead)
    end,
    run = function(args)
      local row = require("claude-code.sessions").get(running().current() or -1)
      local turn = tonumber(args.args:match("^turn%s+(%d+)%s*$"))
        or args.args == "session" and "all"
        or (args.args == "" or args.args == "turn") and "last"
      if not turn then
        return notify.error(":Claude trail takes `turn N` or `session`")
      elseif not (row and row.id) then
        return notify.info("no Claude session runs; :Claude starts one")
      end
      require("claude-code.editor.transcript").trail(row, turn)
    end,
  },

  --- Gives Claude a window of its own that shows what it reads and edits; again: closes it. {N} is
  --- the number of a session. See |claude-code-trail|.
  follow = {
    args = "[N]",
    range = "session",
    complete = complete.sessions,
    run = function(args)
      terminal().with_named(args, require("claude-code.editor.transcript.follow").toggle)
    end,
  },

  --- Goes to the session that has needed your input longest, else to one that is done and that you
  --- have not looked at, else to the one with the next number.
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

  --- Lets Claude edit a file with your unsaved edits at once, rather than after a minute. See
  --- |claude-code-option-wait_for_unsaved|.
  ["go-on"] = {
    run = function()
      require("claude-code.editor.documents.hold").go_on()
    end,
  },

  --- Shows what a session asks, the current one or else the one that has asked longest, and lets
  --- you answer. {N} is the number of a session. Needs the option `permissions.answer`, see
  --- |claude-code-answer|.
  answer = {
    args = "[N]",
    range = "session",
    complete = complete.sessions,
    run = function(args)
      terminal().with_named(args, require("claude-code.permissions.answer").run)
    end,
  },

  --- Lets you choose what to do with a git worktree of this repository: show, bring home, remove.
  --- {name} is that of the worktree, or the number or name of a session in it; without it, it is
  --- the one of the tab page or of the current session. See |claude-code-worktree|.
  worktree = { args = "[name]", complete = worktrees, run = with_worktree() },

  --- Goes to the tab page whose folder is the worktree (|:tcd|), or opens one. `:Claude` there is
  --- the session that runs in it.
  ["worktree show"] = { args = "[name]", complete = worktrees, run = with_worktree("show") },

  --- Applies here what the worktree changed since its branch point, unstaged. If a file cannot be
  --- merged nothing changes, and the quickfix window lists why. With ! all others are applied, and
  --- a conflict in a text gets git's markers. See |claude-code-worktree|.
  ["worktree home"] = {
    args = "[name]",
    bang = true,
    complete = worktrees,
    run = with_worktree("home"),
  },

  --- Removes the worktree with what git ignores in it; its branch stays. It is refused while
  --- something there is nowhere else, while a session, a terminal, a buffer or a window's folder is
  --- in it, and if git has it locked.
  ["worktree remove"] = { args = "[name]", complete = worktrees, run = with_worktree("remove") },
}
