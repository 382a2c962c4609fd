--- Which files the user points at in a file explorer. One adapter for each explorer, chosen by the
--- buffer's filetype; an adapter is called only in a window of its explorer, so that nothing is loaded
--- for those that are not installed.
local M = {}

---Absolute paths of the entries on these lines (1-based) of the current window. May throw.
---@alias claude-code.ExplorerPaths fun(buf: integer, first: integer, last: integer, is_range: boolean): string[]

---@class claude-code.Explorer
---@field paths claude-code.ExplorerPaths

---@type table<string, string|claude-code.Explorer> filetype → module below this one, or adapter
local adapters = {
  ["neo-tree"] = "neo_tree",
  NvimTree = "nvim_tree",
  minifiles = "mini_files",
  netrw = "netrw",
  oil = "oil",
}

---Adds an explorer that is not among those above. For users: see |:ClaudeAtMention|.
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
