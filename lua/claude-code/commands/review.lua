--- The subcommands for proposed edits and reviews. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

local SCOPES = { "turn", "session", "all" }

--- Id of the session that the first word names, or else of the current one if there are enough.
---@param words string[] loses the name
---@param least integer
local function conversation(words, least)
  local terminal, sessions = require("claude-code.terminal"), require("claude-code.sessions")
  local n = words[1] and terminal.find(words[1])
  if n then
    table.remove(words, 1)
  elseif #terminal.own() < least then
    return nil
  end
  local row = sessions.get(n or sessions.current())
  return row and row.id
end

---@param words string[] loses the turn
---@return integer? number nil: the last one
local function turn_in(words)
  local number = (words[1] or ""):match("^%d+%f[:%z]")
  if number or words[1] == "last" then
    table.remove(words, 1)
  end
  return tonumber(number)
end

local function scope_of(args)
  local words = require("claude-code.lib.text").words(args.args)
  local scope, turn = { scope = "unreviewed" }, nil
  if vim.list_contains(SCOPES, words[1]) then
    scope.scope = table.remove(words, 1)
    local is_turn = scope.scope == "turn"
    turn = is_turn and turn_in(words) or nil
    scope.session = scope.scope ~= "all" and conversation(words, is_turn and 1 or 2) or nil
  end
  local paths = vim.tbl_map(function(word)
    return require("claude-code.lib.platform").normal(vim.fs.normalize(word))
  end, words)
  scope.paths = #paths > 0 and paths or nil
  return scope, turn
end

---@param run fun(turns: table, wanted: claude-code.WantedTurn, open: fun(scope: claude-code.ReviewScope))
local function of_turn(run)
  return {
    args = "[N|last]",
    complete = function(lead, before)
      return before == "" and complete.turns(conversation({}, 1), lead) or {}
    end,
    run = function(args)
      local words = require("claude-code.lib.text").words(args.args)
      local wanted = { turn = turn_in(words), session = conversation(words, 1) }
      if #words > 0 then
        return notify.error(("a turn has a number, or is `last`, but not %s"):format(words[1]))
      end
      run(require("claude-code.editor.review.turns"), wanted, function(scope)
        require("claude-code.editor.review").open(scope, true)
      end)
    end,
  }
end

local function decides_turn(method)
  return of_turn(function(turns, wanted, open)
    turns.find(wanted, function(scope)
      turns.decide(method, scope, open)
    end)
  end)
end

local function target_of(args)
  return { whole = args.bang, range = args.range > 0 and { args.line1, args.line2 } or nil }
end

---@param module string below claude-code.editor
local function calls(module, method)
  return function()
    require("claude-code.editor." .. module)[method]()
  end
end

---@param run fun(diff: claude-code.Diff, args: table)
---@return fun(args: table) calls `run` with the diff on screen
local function on_screen(run)
  return function(args)
    local diffs = require("claude-code.editor.diff")
    local shown = diffs.current()
    if shown then
      return run(shown, args)
    end
    local waits = diffs.count() > 0
    notify.warn(waits and "the diff is not on screen: :Claude diff shows it" or diffs.NO_DIFF)
  end
end

local function acts(action)
  return on_screen(function(shown)
    shown:act(action)
  end)
end

---@type table<string, claude-code.Subcommand>
return {
  --- Shows the next waiting edit. The edit on screen waits again.
  diff = {
    run = function()
      require("claude-code.editor.diff").switch(1)
    end,
  },

  --- Accepts the proposed edit on screen, including your changes to it, as <CR> does there. With !
  --- it also accepts an edit of a read-only file.
  ["diff accept"] = {
    bang = true,
    run = on_screen(function(shown, args)
      shown:accept({ force = args.bang })
    end),
  },

  --- Rejects the proposed edit on screen, as `q` does there. Claude receives the reason as a prompt.
  ["diff reject"] = {
    args = "[reason]",
    complete = complete.files,
    run = on_screen(function(shown, args)
      local reason = vim.trim(args.args)
      shown:reject(reason ~= "" and reason or nil)
    end),
  },

  --- Rejects all waiting edits.
  ["diff reject-all"] = {
    run = function()
      local diffs = require("claude-code.editor.diff")
      if diffs.reject_all() == 0 then
        notify.warn(diffs.NO_DIFF)
      end
    end,
  },

  --- Marks the hunk under the cursor as accepted, or removes the mark. Accepting the edit then takes
  --- only marked hunks.
  ["diff accept-hunk"] = { run = acts("accept_hunk") },

  --- Drops the hunk under the cursor and restores its old lines. |u| undoes that.
  ["diff drop-hunk"] = { run = acts("drop_hunk") },

  --- Merges your unsaved edits of the file into the proposed edit; accepting it also replaces them in their buffer.
  --- In a buffer with unsaved edits whose file changed on disk, merges the two. |u| undoes that.
  ["diff merge"] = {
    run = function(args)
      local unsaved = require("claude-code.editor.documents.unsaved")
      if not unsaved.merge_with_marks(vim.api.nvim_get_current_buf()) then
        acts("merge")(args)
      end
    end,
  },

  --- Lists Claude's changes that you have not reviewed in the quickfix window, and moves to the first
  --- hunk. With ! the cursor stays in the list. `turn` limits the review to Claude's last turn, `turn 3`
  --- to its third, `session` to its last session (a session's number or name may follow); `all`
  --- includes kept changes. {paths} are files or folders. See |claude-code-review|.
  review = {
    args = "[turn [N]|session|all] [paths]",
    bang = true,
    complete = function(lead, before)
      local turns = before:find("^turn%s+$") and complete.turns(conversation({}, 1), lead) or {}
      local scopes = before == "" and complete.starting_with(SCOPES, lead) or turns
      return vim.list_extend(scopes, complete.files(lead))
    end,
    run = function(args)
      local scope, turn = scope_of(args)
      local open = require("claude-code.editor.review").open
      if scope.scope ~= "turn" then
        return open(scope, not args.bang)
      end
      local wanted = { turn = turn, session = scope.session }
      require("claude-code.editor.review.turns").find(wanted, function(found)
        open(vim.tbl_extend("force", scope, found), not args.bang)
      end)
    end,
  },

  --- Lists the changes in a picker: `snacks`, `telescope` or `fzf-lua`.
  ["review pick"] = {
    args = "[picker]",
    complete = function(lead)
      return complete.starting_with({ "snacks", "telescope", "fzf-lua" }, lead)
    end,
    run = function(args)
      require("claude-code.editor.review.keys").pick(args.args:match("%S+"))
    end,
  },

  --- Asks whether to keep or undo all hunks that change the same words as the one under the cursor.
  ["review alike"] = { run = calls("review.keys", "alike") },

  --- Leaves the review. Undecided changes keep waiting.
  ["review close"] = { run = calls("review.review", "close") },

  --- Keeps all remaining changes and ends the review.
  ["review done"] = { run = calls("review.decide", "done") },

  --- Commits only what you have kept. With ! the message begins with the prompts that led to these
  --- changes. See |claude-code-commit|.
  commit = {
    bang = true,
    run = function(args)
      require("claude-code.editor.review.decide").commit(args.bang)
    end,
  },

  --- Asks Claude for a message, in the window of git's message.
  ["commit message"] = { run = calls("prompt.edit", "ask_message") },

  --- Keeps Claude's changes in the hunk under the cursor or the lines of the range, with ! in the whole
  --- file. In a review's quickfix window it keeps the entries of the range, with ! their whole files.
  keep = {
    bang = true,
    range = "lines",
    run = function(args)
      require("claude-code.editor.review.decide").decide("keep", target_of(args))
    end,
  },

  --- Undoes what `keep` would keep. It writes a buffer that had no unsaved changes.
  undo = {
    bang = true,
    range = "lines",
    run = function(args)
      require("claude-code.editor.review.decide").decide("undo", target_of(args))
    end,
  },

  --- Keeps all changes of the current session's turn {N}, by default the last one. <Tab> shows
  --- their prompts.
  ["keep turn"] = decides_turn("keep"),

  --- Undoes all changes of turn {N}, as one decision. A review opens for what conflicts with later edits.
  ["undo turn"] = decides_turn("undo"),

  --- Restores the files as they were before turn {N}: undoes what Claude's tools and shell have changed since
  --- in this session, also what you kept or committed. Your own later lines stay. It asks first, and can
  --- type Claude's `/rewind` for the conversation. What you kept more than a week ago stays.
  restore = of_turn(function(turns, ...)
    turns.restore(...)
  end),

  --- Takes back your last decision in a review. Repeat it for earlier decisions.
  back = { run = calls("review.decide", "back") },

  --- Shows which prompt, tool and session changed the line under the cursor.
  why = { run = calls("review.keys", "why") },

  --- Comments for Claude on the line under the cursor, or on the lines of the range, or changes the
  --- comment; an empty text deletes it. With ! it submits all waiting comments; a Claude outside of
  --- Neovim gets a mention of them for you to submit. See |claude-code-comments|.
  comment = {
    args = "[text|list]",
    bang = true,
    range = "lines",
    complete = complete.files,
    run = function(args)
      require("claude-code.editor.review.comments").command(args)
    end,
  },
}
