--- The subcommands for proposed edits. The comment above each is its documentation.
local complete = require("claude-code.commands.complete")
local notify = require("claude-code.messages.notify")

---@param method "accept"|"reject"|"act"|"switch"
local function answer(method, ...)
  local diff = require("claude-code.editor.diff")
  if diff[method](...) ~= nil then
    return
  elseif diff.count() > 0 then
    notify.warn("the diff is not on screen: :Claude diff shows it")
  else
    notify.warn("no diff is waiting for an answer")
  end
end

local function answers(method, argument)
  return function()
    answer(method, argument)
  end
end

---@type table<string, claude-code.Subcommand>
return {
  --- Shows the proposed edit that waits, or the next of several. The one on screen waits again.
  diff = { run = answers("switch", 1) },

  --- Accepts the proposed edit on screen, with your own changes to it, as <CR> does there. With !
  --- also if the file is read-only.
  ["diff accept"] = {
    bang = true,
    run = function(args)
      answer("accept", nil, args.bang)
    end,
  },

  --- Rejects the proposed edit on screen, as `q` does there. Claude receives the reason as your
  --- next prompt.
  ["diff reject"] = {
    args = "[reason]",
    complete = complete.files,
    run = function(args)
      local reason = vim.trim(args.args)
      answer("reject", nil, reason ~= "" and reason or nil)
    end,
  },

  --- Rejects all proposed edits that wait.
  ["diff reject-all"] = {
    run = function()
      if require("claude-code.editor.diff").reject_all() == 0 then
        notify.warn("no diff is waiting for an answer")
      end
    end,
  },

  --- Accepts the hunk under the cursor alone, or takes that back. Accepting the proposed edit then
  --- takes only such hunks.
  ["diff accept-hunk"] = { run = answers("act", "accept_hunk") },

  --- Drops the hunk under the cursor: its old lines come back. |u| undoes that.
  ["diff drop-hunk"] = { run = answers("act", "drop_hunk") },

  --- Merges your unsaved edits of the file into the proposed edit. If you accept the result, it also replaces the
  --- edits in their buffer. In a file that changed on disk where you have unsaved edits, merges both texts. |u|
  --- undoes the merge.
  ["diff merge"] = {
    run = function()
      local unsaved = require("claude-code.editor.documents.unsaved")
      if not unsaved.merge_with_marks(vim.api.nvim_get_current_buf()) then
        answer("act", "merge")
      end
    end,
  },
}
