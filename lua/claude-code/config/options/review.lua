--- Options of the review of what Claude changed.
local t = require("claude-code.config.schema")

local keys = t.any_of(t.string, t.list_of(t.string), t.one_of(false))

---@param action claude-code.ReviewAction
---@param default string|string[]
---@param effect string
---@return claude-code.Option
local function key(action, default, effect)
  return {
    key = "review.keys." .. action,
    type = keys,
    default = default,
    description = ("In a review, the key or keys that %s. `false` maps none."):format(effect),
  }
end

---@type claude-code.Option[]
return {
  {
    key = "review.signs",
    type = t.alias("ReviewSigns", t.one_of("always", "never")),
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
    key = "review.undo_while_working",
    type = t.one_of("queue", "now"),
    default = "queue",
    description = 'What happens to an undo while Claude works. "queue": it waits for the end of the '
      .. 'turn, since Claude would often make the edit again. "now": it happens at once.',
  },
  key("keep", "ga", "keep the hunk, or the selected lines"),
  key("undo", "gr", "undo the hunk, or the selected lines"),
  key("next_hunk", "]c", "move to the next hunk, in the next file after the last one"),
  key("previous_hunk", "[c", "move to the previous hunk"),
  key("next_file", "]f", "move to the next file"),
  key("previous_file", "[f", "move to the previous file"),
  key("comment", "gC", "comment on the lines for Claude"),
}
