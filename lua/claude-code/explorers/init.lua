--- The entries under the cursor or in a range of a file explorer or another list of files.
local api = vim.api

---Returns the entries on these lines (1-based) of the current window, as claude-code.MentionItem[] with absolute paths.
---May throw.
---@alias claude-code.ExplorerPaths fun(buf: integer, first: integer, last: integer, is_range: boolean): any[]

--- Value of netrw_liststyle.
local NETRW_TREE = 3

local lists = {} ---@type table<string, claude-code.ExplorerPaths> by filetype

---@param is_visited? boolean moves the cursor to each row, for plugins that look there
---@return any[] what `entry_at` returns for the rows
local function rows(first, last, entry_at, is_visited)
  local cursor, entries = api.nvim_win_get_cursor(0), {}
  for row = first, last do
    api.nvim_win_set_cursor(0, is_visited and { row, 0 } or cursor)
    entries[#entries + 1] = entry_at(row)
  end
  api.nvim_win_set_cursor(0, cursor)
  return entries
end

--- echasnovski/mini.files
function lists.minifiles(buf, first, last)
  return rows(first, last, function(row)
    local entry = require("mini.files").get_fs_entry(buf, row)
    return entry and entry.path
  end)
end

--- nvim-neo-tree/neo-tree.nvim
lists["neo-tree"] = function(_, first, last)
  local tree = require("neo-tree.sources.manager").get_state_for_window().tree
  return rows(first, last, function(row)
    local node = tree:get_node(row)
    local is_path = node and (node.type == "file" or node.type == "directory")
    return is_path and (node.path or node:get_id()) or nil
  end)
end

--- nvim-tree/nvim-tree.lua, whose root line is a node named "..".
function lists.NvimTree(_, first, last)
  local tree = require("nvim-tree.api").tree
  return rows(first, last, function()
    local node = tree.get_node_under_cursor()
    return node and node.name ~= ".." and node.absolute_path or nil
  end, true)
end

--- stevearc/oil.nvim
function lists.oil(buf, first, last)
  local folder = require("oil").get_current_dir(buf)
  if not folder then
    error("this oil buffer does not show a local folder", 0)
  end
  return rows(first, last, function(row)
    local entry = require("oil").get_entry_on_line(buf, row)
    return entry and entry.name ~= ".." and vim.fs.joinpath(folder, entry.name) or nil
  end)
end

--- Neovim's quickfix and location lists. Entries without a file have no buffer.
function lists.qf(_, first, last)
  local is_location_list = vim.fn.getwininfo(api.nvim_get_current_win())[1].loclist == 1
  local entries = is_location_list and vim.fn.getloclist(0) or vim.fn.getqflist()
  return rows(first, math.min(last, #entries), function(row)
    local entry = entries[row]
    return entry.bufnr > 0
        and {
          path = api.nvim_buf_get_name(entry.bufnr),
          first = entry.lnum > 0 and entry.lnum or nil,
          last = entry.end_lnum > entry.lnum and entry.end_lnum or nil,
        }
      or nil
  end)
end

--- Only an item of a search has a position.
local function of_snacks(item)
  local path = item and require("snacks.picker.util").path(item)
  if not item or not path then
    return nil
  end
  local line = item.pos and item.pos[1] > 0 and item.pos[1] or nil
  return { path = path, first = line, last = item.end_pos and line and item.end_pos[1] }
end

--- folke/snacks.nvim: its explorer, and pickers of files or positions. Without a range the selected items, or else the
--- item under the cursor.
function lists.snacks_picker_list(buf, first, last, is_range)
  local picker = vim.iter(require("snacks.picker").get()):find(function(picker)
    return picker.list.win.buf == buf
  end)
  local items = is_range and {} or vim.iter(picker:selected()):map(of_snacks):totable()
  return #items > 0 and items
    or rows(first, last, function(row)
      return of_snacks(picker.list:get(picker.list:row2idx(row)))
    end)
end

--- A heading of trouble.nvim may stand for a file or a folder, or for something else.
local function of_trouble(node)
  local item, group = (node or {}).item, (node or {}).group
  if not item or not item.filename then
    return nil
  elseif group then
    local is_path = group.directory or vim.deep_equal(group.fields, { "filename" })
    return is_path and item.filename or nil
  end
  local first = item.pos and item.pos[1]
  return { path = item.filename, first = first, last = item.end_pos and item.end_pos[1] or first }
end

--- folke/trouble.nvim, version 3
function lists.trouble(buf, first, last)
  local open = vim.iter(require("trouble.view").get({ open = true })):find(function(one)
    return one.view.win.buf == buf
  end)
  return rows(first, last, function(row)
    return of_trouble(open.view:at({ row, 0 }).node)
  end)
end

---@return string? path nil for "./", "../" and a tree's root
local function netrw_entry()
  local name, line = vim.fn["netrw#Call"]("NetrwGetWord"), api.nvim_get_current_line()
  if name == "" or name == "./" or name == "../" then
    return nil
  elseif vim.w.netrw_liststyle ~= NETRW_TREE then
    return vim.fs.joinpath(vim.b.netrw_curdir, (name:gsub("/$", "")))
  elseif name == line then
    return nil
  end
  -- For a folder or a link this is its own path, for a file that of its folder.
  local path = vim.fn["netrw#Call"]("NetrwTreePath", vim.w.netrw_treetop):gsub("/$", "")
  local is_whole = line:find("/$") or line:find("@%s+%-%->")
  return is_whole and path or vim.fs.joinpath(path, name)
end

--- netrw. Without a range the marked files (`mf`), or else the entry under the cursor.
function lists.netrw(buf, first, last, is_range)
  local folder = vim.b[buf].netrw_curdir
  if not folder or folder:find("^%a[%w+.-]+://") then
    error("netrw does not show a local folder here", 0)
  end
  local marked = vim.fn["netrw#Expose"]("netrwmarkfilelist")
  if not is_range and type(marked) == "table" and #marked > 0 then
    return marked
  elseif not is_range then
    return { netrw_entry() }
  end
  -- Visiting the banner's lines would change the listing.
  local view = vim.fn.winsaveview()
  local paths = rows(math.max(first, vim.w.netrw_bannercnt or 1), last, netrw_entry, true)
  vim.fn.winrestview(view)
  return paths
end

local M = {}

---Adds another explorer. For users: |claude-code-mentions|.
---@param explorer { paths: claude-code.ExplorerPaths }
function M.register(filetype, explorer)
  lists[filetype] = explorer.paths
end

---@return claude-code.ExplorerPaths? nil for an unknown filetype
function M.of_buffer(buf)
  return lists[vim.bo[buf].filetype]
end

return M
