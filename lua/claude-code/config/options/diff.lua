--- Options of diffs, on screen and on the keyboard.
local t = require("claude-code.config.schema")

local keys = t.any_of(t.string, t.list_of(t.string), t.one_of(false))

---@param action claude-code.DiffAction
---@param default string|string[]
---@param effect string
---@return claude-code.Option
local function key(action, default, effect)
  return {
    key = "diff.keys." .. action,
    type = keys,
    default = default,
    description = ("In a diff, the key or keys that %s. `false` maps none."):format(effect),
  }
end

local layout = t.one_of("vertical", "tab", "inline")

---@param value any
---@return string?
function layout.explain(value)
  return value == "horizontal" and 'for that, use "vertical" and :set diffopt+=horizontal' or nil
end

---@type claude-code.Option[]
return {
  {
    key = "diff.layout",
    type = t.alias("DiffLayout", layout),
    default = "vertical",
    description = 'How a proposed edit is shown. "vertical": the file and the proposal side by side, '
      .. 'one above the other if \'diffopt\' has `horizontal`. "tab": the same on a new tab page. "inline": the '
      .. "proposal in the file's window, with deleted lines as virtual lines. Where the file's window "
      .. "has not 91 columns, 45 for each side, a diff is shown inline; so is a change of more than 400 hunks, "
      .. "4,000 lines or 150 KB. Beyond 1 MB, 20,000 lines or a line of 250 KB it is not shown, and "
      .. "Claude asks by itself.",
  },
  {
    key = "diff.focus",
    type = t.boolean,
    default = true,
    description = "Whether the cursor moves to a diff that opens.",
  },
  {
    key = "diff.quiet_ms",
    type = t.integer(0, 5000),
    default = 400,
    description = "Milliseconds without typing before a new diff takes the cursor; in a terminal "
      .. "twice as many. For that time after it took the cursor, keys do not accept or reject it. So "
      .. "keys meant for another window never answer a diff. 0 disables both.",
  },
  key("accept", { "<CR>", "ZZ" }, "accept the proposal, with your changes to it"),
  key("reject", { "q", "ZQ" }, "reject the proposal"),
  key(
    "reject_with_reason",
    "Q",
    "reject the proposal with a reason that you type, which Claude receives"
  ),
  key("next_hunk", "]c", "move to the next hunk"),
  key("previous_hunk", "[c", "move to the previous hunk"),
  key(
    "accept_hunk",
    "ga",
    "accept the hunk under the cursor alone, or take that back; after you accept single hunks, "
      .. "accepting the proposal takes only those"
  ),
  key(
    "drop_hunk",
    "gr",
    "restore the old lines of the hunk under the cursor, until you undo that with `u`"
  ),
  key("next_diff", "]f", "show the next proposal that waits"),
  key("previous_diff", "[f", "show the previous proposal that waits"),
  key("merge", "gm", "merge unsaved edits of the file into the proposal, with git"),
}
