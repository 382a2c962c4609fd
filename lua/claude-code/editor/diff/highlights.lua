--- The highlight groups of a diff. Each links to one that every colour scheme has; a user's own
--- definition wins.
local M = {}

---@class claude-code.HighlightGroup
---@field name string without the common prefix
---@field link string
---@field description string for the documentation

M.prefix = "ClaudeCodeDiff"

---@type claude-code.HighlightGroup[]
M.groups = {
  { name = "Add", link = "DiffAdd", description = "lines that the proposal adds" },
  { name = "Change", link = "DiffChange", description = "lines that it changes" },
  { name = "Text", link = "DiffText", description = "what changes within a line" },
  { name = "Delete", link = "DiffDelete", description = "lines that it deletes" },
  { name = "File", link = "Title", description = "the file's name in the bar above a diff" },
  { name = "Note", link = "Comment", description = "less important words in that bar" },
  { name = "Count", link = "Number", description = "which of several diffs, which hunk" },
  { name = "Added", link = "Added", description = "the number of added lines" },
  { name = "Removed", link = "Removed", description = "the number of removed lines" },
  { name = "Key", link = "Special", description = "the keys" },
  { name = "Warning", link = "WarningMsg", description = "unsaved edits, conflicts" },
  { name = "Accepted", link = "DiagnosticOk", description = "a hunk accepted by itself" },
}

---@param name string as in `groups`
---@return string
function M.name(name)
  return M.prefix .. name
end

---Neovim's diff mode in our groups.
---@param win integer in diff mode
function M.in_window(win)
  local maps = vim.split(vim.wo[win].winhighlight, ",", { trimempty = true })
  for _, name in ipairs({ "Add", "Change", "Text", "Delete" }) do
    maps[#maps + 1] = ("Diff%s:%s"):format(name, M.name(name))
  end
  vim.wo[win][0].winhighlight = table.concat(maps, ",")
end

---Again after a colour scheme, which clears what it does not know.
function M.define()
  for _, group in ipairs(M.groups) do
    vim.api.nvim_set_hl(0, M.name(group.name), { link = group.link, default = true })
  end
end

M.define()
vim.api.nvim_create_autocmd("ColorScheme", {
  group = vim.api.nvim_create_augroup("claude-code.diff.highlights", { clear = true }),
  callback = M.define,
})

return M
