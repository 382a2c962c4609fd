--- netrw, which comes with Neovim.
local api = vim.api

--- Values of netrw_liststyle.
local WIDE, TREE = 2, 3

local M = {}

---@param name string one of netrw's own functions
---@param ... any
local function call(name, ...)
  return vim.fn["netrw#Call"](name, ...)
end

---@return string? path of the entry under the cursor; nil for "./", "../" and a tree's root
local function entry()
  local name, line = call("NetrwGetWord"), api.nvim_get_current_line()
  if name == "" or name == "./" or name == "../" then
    return nil
  elseif vim.w.netrw_liststyle ~= TREE then
    return vim.fs.joinpath(vim.b.netrw_curdir, (name:gsub("/$", "")))
  elseif name == line then
    return nil
  end
  -- The path of a folder or a link itself; of the folder that a file is in.
  local path = call("NetrwTreePath", vim.w.netrw_treetop):gsub("/$", "")
  local is_whole = line:find("/$") or line:find("@%s+%-%->")
  return is_whole and path or vim.fs.joinpath(path, name)
end

--- In a wide listing every line has several entries, in columns of one width.
---@param lnum integer 1-based
local function entries(lnum)
  local columns = { 0 }
  if vim.w.netrw_liststyle == WIDE then
    local line, width = vim.fn.getline(lnum), math.max(vim.b.netrw_cpf or 0, 1)
    for start = width, vim.fn.strcharlen(line) - 1, width do
      columns[#columns + 1] = vim.fn.byteidx(line, start)
    end
  end
  local paths = {}
  for _, column in ipairs(columns) do
    api.nvim_win_set_cursor(0, { lnum, column })
    paths[#paths + 1] = entry()
  end
  return paths
end

--- The files that are marked (`mf`), unless lines are given; else what stands there.
---@type fun(buf: integer, first: integer, last: integer, is_range: boolean): string[]
function M.paths(buf, first, last, is_range)
  local folder = vim.b[buf].netrw_curdir
  if not folder or folder:find("^%a[%w+.-]+://") then
    error("netrw does not show a local folder here", 0)
  end
  local marked = vim.fn["netrw#Expose"]("netrwmarkfilelist")
  if not is_range and type(marked) == "table" and #marked > 0 then
    return marked
  end
  local view, paths = vim.fn.winsaveview(), {}
  -- The banner's lines would change the listing.
  for lnum = math.max(first, vim.w.netrw_bannercnt or 1), last do
    vim.list_extend(paths, is_range and entries(lnum) or { entry() })
  end
  vim.fn.winrestview(view)
  return paths
end

return M
