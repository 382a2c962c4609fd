--- Options of diffs: what Claude changes, before it is written.
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
}
