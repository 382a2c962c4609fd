--- The subcommands for proposed edits and reviews. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

local SCOPES = { turn = true, session = true, all = true }

--- The session that a word names; or else, of several, the current one.
---@param words string[] changed: without the name
local function conversation(words)
  local terminal, sessions = require("claude-code.terminal"), require("claude-code.sessions")
  local n = words[1] and terminal.find(words[1])
  if n then
    table.remove(words, 1)
  elseif #terminal.own() < 2 then
    return nil
  end
  local row = sessions.get(n or sessions.current())
  return row and row.id
end

---@return string[]? paths absolute; nil without words
local function paths_of(words)
  return #words > 0
      and vim.tbl_map(function(word)
        return vim.fn.fnamemodify(vim.fs.normalize(word), ":p"):gsub("(.)/$", "%1")
      end, words)
    or nil
end

local function scope_of(args)
  local words = require("claude-code.lib.text").words(args.args)
  local scope = { scope = "unreviewed" }
  if SCOPES[words[1]] then
    scope.scope = table.remove(words, 1)
    scope.session = scope.scope ~= "all" and conversation(words) or nil
  end
  scope.paths = paths_of(words)
  return scope
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

---@param run fun(diff: claude-code.Diff, args: table) with the diff on screen
---@return fun(args: table)
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
  --- Shows the proposed edit that waits, or the next of several. The one on screen waits again.
  diff = {
    run = function()
      require("claude-code.editor.diff").switch(1)
    end,
  },

  --- Accepts the proposed edit on screen, with your own changes to it, as <CR> does there. With !
  --- also if the file is read-only.
  ["diff accept"] = {
    bang = true,
    run = on_screen(function(shown, args)
      shown:accept({ force = args.bang })
    end),
  },

  --- Rejects the proposed edit on screen, as `q` does there. Claude receives the reason as your
  --- next prompt.
  ["diff reject"] = {
    args = "[reason]",
    complete = complete.files,
    run = on_screen(function(shown, args)
      local reason = vim.trim(args.args)
      shown:reject(reason ~= "" and reason or nil)
    end),
  },

  --- Rejects all proposed edits that wait.
  ["diff reject-all"] = {
    run = function()
      local diffs = require("claude-code.editor.diff")
      if diffs.reject_all() == 0 then
        notify.warn(diffs.NO_DIFF)
      end
    end,
  },

  --- Accepts the hunk under the cursor alone, or takes that back. Accepting the proposed edit then
  --- takes only such hunks.
  ["diff accept-hunk"] = { run = acts("accept_hunk") },

  --- Drops the hunk under the cursor: its old lines come back. |u| undoes that.
  ["diff drop-hunk"] = { run = acts("drop_hunk") },

  --- Merges your unsaved edits of the file into the proposed edit. If you accept the result, it also replaces the
  --- edits in their buffer. In a file that changed on disk where you have unsaved edits, merges both texts. |u|
  --- undoes the merge.
  ["diff merge"] = {
    run = function(args)
      local unsaved = require("claude-code.editor.documents.unsaved")
      if not unsaved.merge_with_marks(vim.api.nvim_get_current_buf()) then
        acts("merge")(args)
      end
    end,
  },

  --- Reviews what Claude changed and you have not reviewed: lists it in the quickfix window and
  --- goes to the first hunk. With ! the cursor stays in the list. `turn` shows what its last turn
  --- changed, `session` what its last session changed (a session's number or name may follow each),
  --- `all` also what you have kept. Further {paths} are files or folders. See |claude-code-review|.
  review = {
    args = "[turn|session|all] [paths]",
    bang = true,
    complete = complete.review_arguments,
    run = function(args)
      require("claude-code.editor.review").open(scope_of(args), not args.bang)
    end,
  },

  --- Leaves the review, and closes its list. Undecided changes still wait.
  ["review close"] = { run = calls("review.review", "close") },

  --- Keeps all that is left, and ends the review.
  ["review done"] = { run = calls("review.decide", "done") },

  --- Commits what you have kept, and nothing else. git's message opens below; `:wq` makes the
  --- commit. With ! the message begins with the prompts that made these changes. See
  --- |claude-code-commit|.
  commit = {
    bang = true,
    run = function(args)
      require("claude-code.editor.review.decide").commit(args.bang)
    end,
  },

  --- Asks Claude for the message, in the window of git's message.
  ["commit message"] = { run = calls("prompt.edit", "ask_message") },

  --- Keeps the hunk under the cursor, or the lines of the range, with ! the whole file: it does not
  --- wait for a review any more. In the quickfix window of a review it is about the entries of the
  --- range, with ! about all of their files.
  keep = {
    bang = true,
    range = "lines",
    run = function(args)
      require("claude-code.editor.review.decide").decide("keep", target_of(args))
    end,
  },

  --- Undoes the hunk under the cursor, or the lines of the range: the old lines come back, and your
  --- own edits stay. With ! the whole file. In the quickfix window of a review it is about the
  --- entries of the range, with ! about all of their files. A buffer that had no unsaved changes is
  --- written. With your next prompt Claude receives what you have undone.
  undo = {
    bang = true,
    range = "lines",
    run = function(args)
      require("claude-code.editor.review.decide").decide("undo", target_of(args))
    end,
  },

  --- Takes your last decision of a review back, whether it kept or undid. Again: the one before.
  back = { run = calls("review.decide", "back") },

  --- Shows which prompt, tool and session changed the line under the cursor.
  why = { run = calls("review.keys", "why") },

  --- Comments for Claude on the line under the cursor, or on the lines of the range. Without {text}
  --- it asks for one, or changes the one that is there; an empty one deletes it. With ! all comments
  --- that wait are pasted into Claude's prompt and submitted; a Claude outside of Neovim gets a
  --- mention of them, for you to submit. `list` shows all in the quickfix window. See
  --- |claude-code-comments|.
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
