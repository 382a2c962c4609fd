--- Which files, or lines of them, the user points at in a file explorer or in another list of files,
--- chosen by the buffer's filetype. Nothing is loaded of a plugin that is not installed.
local M = {}

---The entries on these lines (1-based) of the current window, as
---claude-code.MentionItem[] with absolute paths. May throw.
---@alias claude-code.ExplorerPaths fun(buf: integer, first: integer, last: integer, is_range: boolean): any[]

---@class claude-code.Explorer
---@field paths claude-code.ExplorerPaths

---@type table<string, string|claude-code.Explorer> filetype → name in lists.lua, or what a user registered
local explorers = {
  DiffviewFileHistory = "diffview",
  DiffviewFiles = "diffview",
  ["neo-tree"] = "neo_tree",
  NvimTree = "nvim_tree",
  aerial = "aerial",
  fugitive = "fugitive",
  minifiles = "mini_files",
  netrw = "netrw",
  oil = "oil",
  qf = "quickfix",
  snacks_picker_list = "snacks",
  trouble = "trouble",
}

---Adds an explorer that is not among those above. For users: see `:Claude mention`.
---@param filetype string
---@param explorer claude-code.Explorer
function M.register(filetype, explorer)
  explorers[filetype] = explorer
end

---@param buf integer
---@return claude-code.Explorer? explorer nil if the buffer is not a known one
function M.of_buffer(buf)
  local explorer = explorers[vim.bo[buf].filetype]
  if explorer == "netrw" then
    return require("claude-code.explorers.netrw")
  elseif type(explorer) == "string" then
    return { paths = require("claude-code.explorers.lists")[explorer] }
  end
  return explorer --[[@as claude-code.Explorer?]]
end

return M
