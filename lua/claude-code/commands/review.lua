--- The subcommands for reviews. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")

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

---@type table<string, claude-code.Subcommand>
return {
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

  --- Leaves the review, and closes its list. What you have not decided still waits.
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
