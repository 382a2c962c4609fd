--- The highlight groups of a diff.
local M = require("claude-code.lib.highlights").define("ClaudeCodeDiff", {
  { name = "Add", link = "DiffAdd", description = "lines that the proposal adds" },
  { name = "Change", link = "DiffChange", description = "lines that it changes" },
  { name = "Text", link = "DiffText", description = "what changes within a line" },
  -- Neovim's own colours have no background for what is deleted, so that it would look like the rest.
  {
    name = "Delete",
    link = "DiffDelete",
    background = { dark = { "NvimDarkRed", 52 }, light = { "NvimLightRed", 224 } },
    description = "lines that it deletes",
  },
  {
    name = "DeleteText",
    background = { dark = { "#8c1420", 88 }, light = { "#ff9890", 210 } },
    description = "what changes in such a line: a stronger red",
  },
  { name = "Filler", link = "NonText", description = "the room of lines that the other side has" },
  { name = "File", link = "Title", description = "the file's name in the bar above a diff" },
  { name = "Note", link = "Comment", description = "less important words in that bar" },
  { name = "Count", link = "Number", description = "which of several diffs, which hunk" },
  { name = "Added", link = "Added", description = "the number of added lines, and their signs" },
  {
    name = "Removed",
    link = "Removed",
    description = "the number of removed lines, and signs of them",
  },
  { name = "Key", link = "Special", description = "the keys" },
  {
    name = "Warning",
    link = "WarningMsg",
    description = "unsaved edits, conflicts, hidden characters, a file outside of the workspace",
  },
  { name = "Accepted", link = "DiagnosticOk", description = "a hunk accepted by itself" },
})

---The groups of Neovim's diff mode, and what each side has in their place.
local SIDES = {
  old = {
    DiffAdd = "Delete",
    DiffChange = "Change",
    DiffText = "DeleteText",
    DiffDelete = "Filler",
  },
  new = { DiffAdd = "Add", DiffChange = "Change", DiffText = "Text", DiffDelete = "Filler" },
}

---@param win integer in diff mode
---@param side "old"|"new"
function M.in_window(win, side)
  local maps = vim.split(vim.wo[win].winhighlight, ",", { trimempty = true })
  for theirs, ours in pairs(SIDES[side]) do
    maps[#maps + 1] = ("%s:%s"):format(theirs, M.name(ours))
  end
  vim.wo[win][0].winhighlight = table.concat(maps, ",")
end

return M
