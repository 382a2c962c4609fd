--- Options of Claude's changes: their diffs before they are written, their review and their problems afterwards.
local t = require("claude-code.config.options.schema")
local option = t.option

local layout = t.one_of("vertical", "tab", "inline")
layout.expected = layout.expected
  .. ' (one side above the other: "vertical", :set diffopt+=horizontal)'

---@type claude-code.Option[]
return {
  option("diff.layout", layout, "vertical", {
    'How a proposed edit is shown. "vertical": the file and the proposal side by side, or one above the other if',
    '\'diffopt\' has `horizontal`. "tab": the same in a new tab page. "inline": the proposal in the file\'s window,',
    "with deleted lines as virtual lines. Narrow windows, new files and very big changes always get an inline diff.",
  }),
  option("diff.open", t.one_of("always", "waits", "never"), "always", {
    'What a proposed edit does to your windows. "always": it opens as soon as you do not type. "waits": nothing moves;',
    "a message, the status line and a sign in the file announce it, and `]f` or `:Claude diff` shows it.",
    '"never": Claude asks in its terminal, which shows the diff only if "Diff tool" in Claude\'s `/config` is',
    '"terminal".',
  }),
  option("diff.focus", t.boolean, true, { "Whether the cursor moves to a diff that opens." }),
  option("diff.keys", t.keys, nil, {
    "The keys in a diff, in normal mode on both sides. `false` maps no key.",
    fields = {
      { "accept", { "<CR>", "ZZ" }, "accepts the proposal, with your changes to it" },
      { "reject", { "q", "ZQ" }, "rejects the proposal" },
      { "reject_with_reason", "Q", "asks you for a reason, and rejects the proposal with it" },
      { "next_hunk", "]c", "moves to the next hunk" },
      { "previous_hunk", "[c", "moves to the previous hunk" },
      { "accept_hunk", "ga", "accepts the hunk under the cursor alone, or revokes that" },
      { "drop_hunk", "gr", "restores the old lines of the hunk under the cursor" },
      { "next_diff", "]f", "shows the next waiting proposal" },
      { "previous_diff", "[f", "shows the previous waiting proposal" },
      {
        "merge",
        "gm",
        "merges your unsaved edits into the proposal; outside of a diff, into the file that changed on disk",
      },
      { "help", "g?", "shows these keys" },
    },
  }),
  option("review.signs", t.one_of("always", "never"), "always", {
    'Whether the sign column shows Claude\'s changes that you have not reviewed. "never": only a review shows them,',
    "with colours and deleted lines; `vim.b.claude_code_review` is then set only during a review.",
  }),
  option("review.message", t.boolean, true, {
    "Whether a message at the end of Claude's turn reports how much there is to review.",
  }),
  option("review.ignore", t.list_of(t.string), {}, {
    "Globs, as in `privacy.patterns`, of files that the title of a review's list only counts, such as generated files.",
    "`:Claude review` with such a file or folder lists them.",
  }),
  option("review.keys", t.keys, nil, {
    "The keys in the files of a review and in its list. `false` maps no key.",
    fields = {
      { "keep", "ga", "keeps the hunk, or the selected lines" },
      { "undo", "gr", "undoes the hunk, or the selected lines" },
      { "next_hunk", "]c", "moves to the next hunk, in the next file after the last one" },
      { "previous_hunk", "[c", "moves to the previous hunk" },
      { "next_file", "]f", "moves to the next file" },
      { "previous_file", "[f", "moves to the previous file" },
      { "keep_file", "gA", "keeps the whole file, in the list that of the entry" },
      { "undo_file", "gR", "undoes the whole file, in the list that of the entry" },
      { "alike", "g=", "keeps or undoes all hunks that change the same words" },
      { "back", "gB", "takes back the last decision" },
      { "why", "gW", "shows the prompt, the tool and the session of a change" },
      { "turn", "gT", "reviews the turn of the change alone, or all again" },
      { "done", "gQ", "keeps all remaining changes and ends the review" },
      { "layout", "gs", "shows the file side by side, or inline again" },
      { "form", "gL", "lists the changes by files, or by hunks again" },
      { "help", "g?", "shows these keys" },
      { "comment", "gC", "comments on the lines for Claude" },
      { "message", "gm", "asks Claude for git's message, in the window of `:Claude commit`" },
    },
  }),
  option("diagnostics.block", t.boolean, true, {
    "Whether Claude must continue when files that it edited have problems at the end of its turn. Needs the hooks,",
    "which `:Claude` passes; for other CLIs see :Claude setup.",
  }),
  option("diagnostics.retries", t.integer(1, 7), 1, {
    "How often Claude must continue for one prompt. Then it may end its turn despite problems.",
  }),
  option("diagnostics.severity", t.one_of("error", "warning", "information", "hint"), "warning", {
    "The least severe problem that counts.",
  }),
  option("diagnostics.only_new", t.boolean, false, {
    "Whether problems that a file had before Claude edited it are ignored, and all problems of a file that was not",
    "open in Neovim.",
  }),
  option("diagnostics.ignore_sources", t.list_of(t.string), {}, {
    'Problems from these sources are ignored, by the names that Neovim shows: { "cspell" }.',
  }),
  option("diagnostics.ignore_files", t.list_of(t.string), {}, {
    'Problems in files that match these globs are ignored: { "vendor/**", "*.gen.ts" }.',
  }),
  option("diagnostics.after_edit", t.any_of(t.one_of("auto"), t.boolean), "auto", {
    'Whether Claude receives a file\'s new problems right after it edited the file. "auto": only if the CLI is not',
    "connected to Neovim (claude -p).",
  }),
}
