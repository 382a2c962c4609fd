--- Options of the review of what Claude changed.
local t = require("claude-code.config.schema")

---@type claude-code.Option[]
return {
  {
    key = "review.accepted_is_reviewed",
    type = t.boolean,
    default = true,
    description = "Whether an edit that you accepted in a diff counts as kept in the review.",
  },
}
