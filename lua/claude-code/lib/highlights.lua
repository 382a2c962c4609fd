--- Highlight groups of the plugin. Those of one room share a prefix. Each links to a group that every
--- colour scheme has, so that it is right for a dark and a light 'background'; a user's own wins.
local api = vim.api

---@class claude-code.HighlightGroup
---@field name string without the common prefix
---@field link? string
---@field background? { dark: [string, integer], light: [string, integer] } GUI and terminal colour, where
---`link` has none
---@field description string for the documentation

---@class claude-code.HighlightGroups
---@field groups claude-code.HighlightGroup[]
---@field name fun(name: string): string

local defined = {} ---@type claude-code.HighlightGroups[]

---Groups as they were set here. One that is another by now is the user's.
local set = {} ---@type table<string, vim.api.keyset.get_hl_info>

---Links are followed here: Neovim does so by the 'winhighlight' of the current window.
local function has_background(name)
  local found = name and api.nvim_get_hl(0, { name = name }) or {}
  if found.link then
    return has_background(found.link)
  end
  return found.bg ~= nil or found.reverse == true
end

local function values_of(group)
  if group.background and not has_background(group.link) then
    local colour = group.background[vim.o.background]
    return { bg = colour[1], ctermbg = colour[2] }
  end
  return { link = group.link }
end

local function set_all(groups)
  for _, group in ipairs(groups.groups) do
    local name = groups.name(group.name)
    local now = api.nvim_get_hl(0, { name = name })
    if vim.tbl_isempty(now) or vim.deep_equal(now, set[name]) then
      api.nvim_set_hl(0, name, values_of(group))
      set[name] = api.nvim_get_hl(0, { name = name })
    end
  end
end

local M = {}

---@param prefix string
---@param groups claude-code.HighlightGroup[]
---@return claude-code.HighlightGroups
function M.define(prefix, groups)
  local all = {
    groups = groups,
    name = function(name)
      return prefix .. name
    end,
  }
  set_all(all)
  table.insert(defined, all)
  return all
end

---A colour scheme clears what it does not know; another 'background' needs other colours.
local group = require("claude-code.lib.autocommands").new("highlights")
local function set_again()
  vim.iter(defined):each(set_all)
end
group:on("ColorScheme", set_again)
group:on("OptionSet", set_again, { pattern = "background" })

return M
