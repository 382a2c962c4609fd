--- Which files, or lines of them, the user points at in a file explorer or in another list of files.
--- One adapter for each, chosen by the buffer's filetype; an adapter is called only in a window of its
--- explorer, so that nothing is loaded for those that are not installed.
local M = {}

---The entries on these lines (1-based) of the current window, as
---claude-code.MentionItem[] with absolute paths. May throw.
---@alias claude-code.ExplorerPaths fun(buf: integer, first: integer, last: integer, is_range: boolean): any[]

---@class claude-code.Explorer
---@field paths claude-code.ExplorerPaths

---@type table<string, string|claude-code.Explorer> filetype → module below this one, or adapter
local adapters = {
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
  snacks_picker_list = "snacks_picker",
  trouble = "trouble",
}

---Adds an explorer that is not among those above. For users: see `:Claude mention`.
---@param filetype string
---@param adapter claude-code.Explorer
function M.register(filetype, adapter)
  adapters[filetype] = adapter
end

---@param buf integer
---@return claude-code.Explorer? adapter nil if the buffer is not a known explorer
function M.of_buffer(buf)
  local adapter = adapters[vim.bo[buf].filetype]
  if type(adapter) == "string" then
    return require("claude-code.explorers." .. adapter)
  end
  return adapter
end

return M
