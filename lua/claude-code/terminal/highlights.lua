--- The highlight groups of the bar that names the sessions. Each links to one that every colour scheme
--- has, so that it is right for a dark and a light 'background'; a user's own definition wins.
local M = {}

M.prefix = "ClaudeCodeSession"

---@type claude-code.HighlightGroup[]
M.groups = {
  {
    name = "Blocked",
    link = "DiagnosticWarn",
    description = "the state of a session that needs input",
  },
  { name = "Working", link = "DiagnosticInfo", description = "of one that works" },
  { name = "Done", link = "DiagnosticOk", description = "of one that is done" },
  { name = "Error", link = "DiagnosticError", description = "of one that failed" },
  {
    name = "Idle",
    link = "Comment",
    description = "of one that is idle, or whose state is unknown",
  },
  { name = "Current", link = "Title", description = "the name of the session on screen" },
  {
    name = "Other",
    link = "Comment",
    description = "the names of the others, and what the bar says",
  },
}

---@param name string as in `groups`
---@return string
function M.name(name)
  return M.prefix .. name
end

for _, group in ipairs(M.groups) do
  vim.api.nvim_set_hl(0, M.name(group.name), { link = group.link, default = true })
end

return M
