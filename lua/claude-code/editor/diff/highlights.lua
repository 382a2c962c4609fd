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
  { name = "DeleteText", link = "DiffDelete", description = "what changes in such a line" },
  { name = "Filler", link = "NonText", description = "the room of lines that the other side has" },
  { name = "File", link = "Title", description = "the file's name in the bar above a diff" },
  { name = "Note", link = "Comment", description = "less important words in that bar" },
  { name = "Count", link = "Number", description = "which of several diffs, which hunk" },
  { name = "Added", link = "Added", description = "the number of added lines" },
  { name = "Removed", link = "Removed", description = "the number of removed lines" },
  { name = "Key", link = "Special", description = "the keys" },
  {
    name = "Warning",
    link = "WarningMsg",
    description = "unsaved edits, conflicts, hidden characters, a file outside of the workspace",
  },
  { name = "Accepted", link = "DiagnosticOk", description = "a hunk accepted by itself" },
}

---@param name string as in `groups`
---@return string
function M.name(name)
  return M.prefix .. name
end

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
  for _, theirs in ipairs({ "DiffAdd", "DiffChange", "DiffText", "DiffDelete" }) do
    maps[#maps + 1] = ("%s:%s"):format(theirs, M.name(SIDES[side][theirs]))
  end
  vim.wo[win][0].winhighlight = table.concat(maps, ",")
end

---Backgrounds for what is deleted, by 'background': Neovim's own colours have none for it, so that
---deleted lines would look like others.
local BACKGROUNDS = {
  Delete = { dark = { "NvimDarkRed", 52 }, light = { "NvimLightRed", 224 } },
  DeleteText = { dark = { "#8c1420", 88 }, light = { "#ff9890", 210 } },
}

---Links are followed here: Neovim does so by the 'winhighlight' of the current window.
---@param name string
---@return boolean
local function has_background(name)
  local found = vim.api.nvim_get_hl(0, { name = name })
  if found.link then
    return has_background(found.link)
  end
  return found.bg ~= nil or found.reverse == true
end

---@param group claude-code.HighlightGroup
---@return vim.api.keyset.highlight
local function values_of(group)
  local backgrounds = BACKGROUNDS[group.name]
  if backgrounds and (group.name ~= "Delete" or not has_background(group.link)) then
    local colour = backgrounds[vim.o.background]
    return { bg = colour[1], ctermbg = colour[2] }
  end
  return { link = group.link }
end

---Groups as we have set them. One that is another by now is the user's.
local set = {} ---@type table<string, vim.api.keyset.get_hl_info>

---Again after a colour scheme, which clears what it does not know, and for another 'background'.
function M.define()
  for _, group in ipairs(M.groups) do
    local name = M.name(group.name)
    local now = vim.api.nvim_get_hl(0, { name = name })
    if vim.tbl_isempty(now) or vim.deep_equal(now, set[name]) then
      vim.api.nvim_set_hl(0, name, values_of(group))
      set[name] = vim.api.nvim_get_hl(0, { name = name })
    end
  end
end

M.define()
local autocommands = vim.api.nvim_create_augroup("claude-code.diff.highlights", { clear = true })
vim.api.nvim_create_autocmd("ColorScheme", { group = autocommands, callback = M.define })
vim.api.nvim_create_autocmd("OptionSet", {
  group = autocommands,
  pattern = "background",
  callback = M.define,
})

return M
