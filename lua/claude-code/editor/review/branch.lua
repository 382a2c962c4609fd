--- A branch is read like a review: the same list, marks, keys and comments, but nothing to decide. The executable
--- compares the work tree with where the branch began (src/review/state/branch-project.ts).
local M = {}

---Lists what a work tree has otherwise than the commit at which its branch began, uncommitted work included.
---@param root string absolute: a folder in the work tree, which need not be the current one
---@param base? string a branch, tag or commit; nil: the default branch of the remote, else main or master
---@param paths? string[] absolute: files or folders; nil: all
---@param jumps? boolean to the first entry
function M.open(root, base, paths, jumps)
  local branch = { root = root, base = base }
  local scope = { scope = "unreviewed", branch = branch, paths = paths }
  require("claude-code.editor.review").open(scope, jumps or false)
end

return M
