--- Options of what Claude changes: of diffs, before it is written, and of reviews, afterwards.
local t = require("claude-code.config.options.schema")

local keys = t.any_of(t.string, t.list_of(t.string), t.one_of(false))

---@param where "diff"|"review"
---@param action claude-code.DiffAction|claude-code.ReviewAction
---@param effect string
---@return claude-code.Option
local function key(where, action, effect)
  return {
    key = ("%s.keys.%s"):format(where, action),
    type = keys,
    description = ("In a %s, the key or keys that %s. `false` maps none."):format(where, effect),
  }
end

local layout = t.one_of("vertical", "tab", "inline")

layout.expected = layout.expected
  .. ' (one side above the other: "vertical", :set diffopt+=horizontal)'

---@type claude-code.Option[]
return {
  {
    key = "diff.layout",
    type = layout,
    description = 'How a proposed edit is shown. "vertical": the file and the proposal side by side, '
      .. 'one above the other if \'diffopt\' has `horizontal`. "tab": the same on a new tab page. "inline": the '
      .. "proposal in the file's window, with deleted lines as virtual lines. Where the file's window "
      .. "has not 91 columns, 45 for each side, a diff is shown inline; so is a new file, and a "
      .. "change of more than 400 hunks, 4,000 lines or 150 KB. Beyond 1 MB, 20,000 lines or a line "
      .. "of 250 KB it is not shown, and Claude asks by itself.",
  },
  {
    key = "diff.open",
    type = t.one_of("always", "waits", "never"),
    description = 'What a proposed edit does to your windows. "always": it opens as soon as you do not '
      .. 'type. "waits": nothing moves; the status line says `1 edit waits`, a sign stands in the '
      .. 'file, and `]f` or `:Claude diff` shows it. "never": Claude asks in its terminal, '
      .. 'which shows the diff only if "Diff tool" in Claude\'s `/config` is "terminal"; the change is '
      .. "in the review afterwards.",
  },
  {
    key = "diff.focus",
    type = t.boolean,
    description = "Whether the cursor moves to a diff that opens.",
  },
  {
    key = "diff.quiet_ms",
    type = t.integer(0, 5000),
    description = "Milliseconds without typing before a new diff takes the cursor; in a terminal "
      .. "twice as many. For that time after it took the cursor, keys do not accept or reject it. So "
      .. "keys meant for another window never answer a diff. 0 disables both.",
  },
  key("diff", "accept", "accept the proposal, with your changes to it"),
  key("diff", "reject", "reject the proposal"),
  key(
    "diff",
    "reject_with_reason",
    "reject the proposal with a reason that you type, which Claude receives"
  ),
  key("diff", "next_hunk", "move to the next hunk"),
  key("diff", "previous_hunk", "move to the previous hunk"),
  key(
    "diff",
    "accept_hunk",
    "accept the hunk under the cursor alone, or take that back; after you accept single hunks, "
      .. "accepting the proposal takes only those"
  ),
  key(
    "diff",
    "drop_hunk",
    "restore the old lines of the hunk under the cursor, until you undo that with `u`"
  ),
  key("diff", "next_diff", "show the next proposal that waits"),
  key("diff", "previous_diff", "show the previous proposal that waits"),
  key("diff", "merge", "merge unsaved edits of the file into the proposal, with git"),
  {
    key = "review.signs",
    type = t.one_of("always", "never"),
    description = "Whether the sign column shows what Claude changed and you have not reviewed. "
      .. '"never": only a review shows it, with colours and deleted lines; '
      .. "`vim.b.claude_code_review` is then set only during a review.",
  },
  {
    key = "review.message",
    type = t.boolean,
    description = "Whether a message says how much there is to review when Claude ends its turn.",
  },
  {
    key = "review.ignore",
    type = t.list_of(t.string),
    description = "Globs of files that a review only counts, in the last row of its list: generated "
      .. "ones, say. They are written as in `privacy.patterns`. `:Claude review` with such a file or "
      .. "folder lists them, and `:Claude review done` keeps them, too.",
  },
  {
    key = "review.undo_while_working",
    type = t.one_of("queue", "now"),
    description = 'What happens to an undo while Claude works. "queue": it waits for the end of the '
      .. 'turn, since Claude would often make the edit again. "now": it happens at once.',
  },
  key("review", "keep", "keep the hunk, or the selected lines"),
  key("review", "undo", "undo the hunk, or the selected lines"),
  key("review", "next_hunk", "move to the next hunk, in the next file after the last one"),
  key("review", "previous_hunk", "move to the previous hunk"),
  key("review", "next_file", "move to the next file"),
  key("review", "previous_file", "move to the previous file"),
  key("review", "keep_file", "keep all of the file, or of the entry's file"),
  key("review", "undo_file", "undo all of the file, or of the entry's file"),
  key("review", "back", "take the last decision back"),
  key("review", "why", "show the prompt, the tool and the session of a change"),
  key("review", "done", "keep all that is left, and end the review"),
  key("review", "help", "show these keys"),
  key("review", "comment", "comment on the lines for Claude"),
}
