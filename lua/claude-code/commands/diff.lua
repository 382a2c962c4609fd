--- The subcommands for proposed edits. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

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
}
