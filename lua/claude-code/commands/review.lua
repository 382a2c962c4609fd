--- What the commands of the review do; their comments are their documentation.
local M = {}

--- Comments on the line under the cursor, or on the lines of the range, for Claude. Without {args} it
--- asks for the text. Where a comment is already, its text changes; an empty one deletes it. Comments
--- are kept until you send them, also when Neovim ends. With ! all that wait are sent: pasted into the
--- prompt of Claude's terminal, with their lines, and submitted. A Claude outside of Neovim gets a
--- mention of them in its prompt, for you to submit.
---@param args claude-code.CommandArgs
function M.comment(args)
  require("claude-code.editor.review.comments").command(args)
end

return M
