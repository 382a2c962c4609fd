--- Options of reviews: what Claude changed, after it is written.
local t = require("claude-code.config.options.schema")

---@type claude-code.Option[]
return {
  {
    key = "review.signs",
    type = t.one_of("always", "never"),
    default = "always",
    description = "Whether the sign column shows what Claude changed and you have not reviewed. "
      .. '"never": only a review shows it, with colours and deleted lines; '
      .. "`vim.b.claude_code_review` is then set only during a review.",
  },
  {
    key = "review.message",
    type = t.boolean,
    default = true,
    description = "Whether a message says how much there is to review when Claude ends its turn.",
  },
  {
    key = "review.ignore",
    type = t.list_of(t.string),
    default = {},
    description = "Globs of files that a review only counts, in the title of its list, as generated "
      .. "ones. They are written as in `privacy.patterns`. `:Claude review` with such a file "
      .. "or folder lists them.",
  },
  {
    key = "review.keys",
    type = t.keys,
    description = "The keys in the files of a review and in its list. `false` is none.",
    fields = {
      { "keep", "ga", "keeps the hunk, or the selected lines" },
      { "undo", "gr", "undoes the hunk, or the selected lines" },
      { "next_hunk", "]c", "moves to the next hunk, in the next file after the last one" },
      { "previous_hunk", "[c", "moves to the previous hunk" },
      { "next_file", "]f", "moves to the next file" },
      { "previous_file", "[f", "moves to the previous file" },
      { "keep_file", "gA", "keeps all of the file, or of the entry's file" },
      { "undo_file", "gR", "undoes all of the file, or of the entry's file" },
      { "back", "gB", "takes the last decision back" },
      { "why", "gW", "shows the prompt, the tool and the session of a change" },
      { "done", "gQ", "keeps all that is left, and ends the review" },
      { "layout", "gs", "shows the file side by side, or inline again" },
      { "help", "g?", "shows these keys" },
      { "comment", "gC", "comments on the lines for Claude" },
      { "message", "gm", "asks Claude for git's message, in the window of `:Claude commit`" },
    },
  },
}
