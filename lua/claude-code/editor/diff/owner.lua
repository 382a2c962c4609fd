--- Which session of this Neovim a proposal is from, where several run.
local M = {}

---@param proposal claude-code.Proposal
---@return integer? n
local function session(proposal)
  return require("claude-code.terminal.clients").session_of_client(proposal.client)
end

---@param proposal claude-code.Proposal
---@return string? name nil unless several sessions run
function M.name(proposal)
  local n = session(proposal)
  local row = n and require("claude-code.sessions").get(n)
  return row and (row.name or row.worktree or ("Claude %d"):format(n)) or nil
end

---Those of the current session come first, each session's in their order.
---@param diffs claude-code.Diff[] those that the user left undecided do not come by themselves
---@return claude-code.Diff?
function M.first(diffs)
  local candidates = vim.tbl_filter(function(diff)
    return not diff.aside
  end, diffs)
  local current = #candidates > 1 and require("claude-code.sessions").current()
  return current
      and vim.iter(candidates):find(function(diff)
        return session(diff.proposal) == current
      end)
    or candidates[1]
end

return M
