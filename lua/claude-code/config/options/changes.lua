--- Options of Claude's changes: their diffs before they are written, their review and their problems afterwards.
local t = require("claude-code.config.options.schema")

local layout = t.one_of("vertical", "tab", "inline")

layout.expected = layout.expected
  .. ' (one side above the other: "vertical", :set diffopt+=horizontal)'

---@type claude-code.Option[]
return {
  {
    key = "diff.layout",
    type = layout,
    default = "vertical",
    description = 'How a proposed edit is shown. "vertical": the file and the proposal side by side, '
      .. "one above the other if 'diffopt' has `horizontal`. \"tab\": the same on a new tab "
      .. 'page. "inline": the proposal in the file\'s window, with deleted lines as virtual '
      .. "lines. In a narrow window a diff is shown inline, and so are a new file and a very "
      .. "big change.",
  },
  {
    key = "diff.open",
    type = t.one_of("always", "waits", "never"),
    default = "always",
    description = 'What a proposed edit does to your windows. "always": it opens as soon as you do not '
      .. 'type. "waits": nothing moves; a message and the status line say so, the file has a '
      .. 'sign, and `]f` or `:Claude diff` shows it. "never": Claude asks in its terminal, '
      .. 'which shows the diff only if "Diff tool" in Claude\'s `/config` is "terminal".',
  },
  {
    key = "diff.focus",
    type = t.boolean,
    default = true,
    description = "Whether the cursor moves to a diff that opens.",
  },
  {
    key = "diff.keys",
    type = t.keys,
    description = "The keys in a diff, in normal mode on both sides. `false` is none.",
    fields = {
      { "accept", { "<CR>", "ZZ" }, "accepts the proposal, with your changes to it" },
      { "reject", { "q", "ZQ" }, "rejects the proposal" },
      {
        "reject_with_reason",
        "Q",
        "rejects it with a reason that you type, which Claude receives",
      },
      { "next_hunk", "]c", "moves to the next hunk" },
      { "previous_hunk", "[c", "moves to the previous hunk" },
      {
        "accept_hunk",
        "ga",
        "accepts the hunk under the cursor alone, or takes that back",
      },
      {
        "drop_hunk",
        "gr",
        "restores the old lines of the hunk under the cursor",
      },
      { "next_diff", "]f", "shows the next proposal that waits" },
      { "previous_diff", "[f", "shows the previous proposal that waits" },
      {
        "merge",
        "gm",
        "merges your unsaved edits into the proposal, or, outside of a diff, with the file that changed on disk",
      },
      { "help", "g?", "shows these keys" },
    },
  },
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
  {
    key = "diagnostics.block",
    type = t.boolean,
    default = true,
    description = "Whether Claude must continue when files that it edited have problems at the end of "
      .. "its turn. Needs the hooks: `:Claude` passes them, for other CLIs see "
      .. ":Claude setup.",
  },
  {
    key = "diagnostics.retries",
    type = t.integer(1, 7),
    default = 1,
    description = "How often Claude must continue for one prompt. After that it may end its turn "
      .. "whatever the problems.",
  },
  {
    key = "diagnostics.severity",
    type = t.one_of("error", "warning", "information", "hint"),
    default = "warning",
    description = "The least severe problem that counts.",
  },
  {
    key = "diagnostics.only_new",
    type = t.boolean,
    default = false,
    description = "Whether problems that a file had before Claude edited it are ignored, and all those "
      .. "of a file that was not open in Neovim.",
  },
  {
    key = "diagnostics.ignore_sources",
    type = t.list_of(t.string),
    default = {},
    description = "Problems from these sources are ignored. The names are those that Neovim shows: "
      .. '{ "cspell" }.',
  },
  {
    key = "diagnostics.ignore_files",
    type = t.list_of(t.string),
    default = {},
    description = "Problems in files that match these globs are ignored: "
      .. '{ "vendor/**", "*.gen.ts" }.',
  },
  {
    key = "diagnostics.after_edit",
    type = t.any_of(t.one_of("auto"), t.boolean),
    default = "auto",
    description = "Whether Claude receives a file's new problems right after it edited the file. "
      .. '"auto": only if the CLI is not connected to Neovim (claude -p).',
  },
}
