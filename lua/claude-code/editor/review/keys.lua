--- The keys of a review, in its files and in its quickfix window only. `review.keys` names them.
local hunk_keys = require("claude-code.editor.hunks.keys")

local M = {}

---@alias claude-code.ReviewAction
---| "keep"
---| "undo"
---| "next_hunk"
---| "previous_hunk"
---| "next_file"
---| "previous_file"
---| "comment"

---@type table<claude-code.ReviewAction, string>
local DESCRIPTIONS = {
  keep = "Keep this change of Claude's",
  undo = "Undo this change of Claude's",
  next_hunk = "Next change of Claude's",
  previous_hunk = "Previous change of Claude's",
  next_file = "Next file that Claude changed",
  previous_file = "Previous file that Claude changed",
  comment = "Comment on these lines for Claude",
}

---What visual mode has as well: the lines that are selected.
local VISUAL = { keep = true, undo = true, comment = true }

---@param action claude-code.ReviewAction
---@return string[] keys possibly none
function M.of(action)
  return hunk_keys.of(require("claude-code.config").get().review.keys[action])
end

---@param actions table<claude-code.ReviewAction, fun(visual: boolean)>
---@return claude-code.Key[]
function M.all(actions)
  local entries = {}
  for action, run in pairs(actions) do
    entries[#entries + 1] = {
      keys = M.of(action),
      desc = DESCRIPTIONS[action],
      modes = VISUAL[action] and { "n", "x" },
      run = function(mode)
        run(mode == "x")
      end,
    }
  end
  return entries
end

return M
