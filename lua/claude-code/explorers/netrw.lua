--- netrw, which comes with Neovim. It has no function that tells of a line, so its four listings are
--- read; what they show counts only if it exists.
local api, uv = vim.api, vim.uv

local THIN, LONG, WIDE, TREE = 0, 1, 2, 3

local M = {}

---@param buf integer
---@param lnum integer
---@return string
local function line_at(buf, lnum)
  return api.nvim_buf_get_lines(buf, lnum - 1, lnum, false)[1] or ""
end

---@param folder string
---@param shown string a name as a listing shows it: `folder/`, `link@`, `program*`
---@return string? path nil if there is no such file
local function existing(folder, shown)
  shown = vim.trim(shown)
  if shown == "./" or shown == "../" then
    return nil
  end
  for _, name in ipairs({ shown, (shown:gsub("[*@|=/]$", "")), (shown:gsub("@%s+%-%->.*$", "")) }) do
    local path = vim.fs.joinpath(folder, (name:gsub("/$", "")))
    if name ~= "" and uv.fs_lstat(path) then
      return path
    end
  end
end

---A long listing: name, size, date. The name ends at the first two spaces, unless it holds such.
---@param folder string
---@param line string
---@return string?
local function from_long(folder, line)
  local stop = #line
  while stop > 0 do
    local path = existing(folder, line:sub(1, stop))
    if path then
      return path
    end
    local gap = line:sub(1, stop):match("^.*()[%s][%s]+%S")
    stop = gap and gap - 1 or 0
  end
end

---A wide listing has several names on a line, all in columns of one width.
---@param buf integer
---@param folder string
---@param lnum integer
---@param column? integer 0-based byte; only the name there
---@return string[]
local function from_wide(buf, folder, lnum, column)
  local line, width = line_at(buf, lnum), vim.b[buf].netrw_cpf or 0
  local paths = {}
  local length = vim.fn.strcharlen(line)
  local at = column and vim.fn.charidx(line, math.min(column, math.max(#line - 1, 0)))
  for start = 0, length - 1, math.max(width, 1) do
    if not at or (at >= start and at < start + width) then
      paths[#paths + 1] = existing(folder, vim.fn.strcharpart(line, start, width))
    end
  end
  return paths
end

---@param line string of a tree
---@return integer depth
---@return string name
local function tree_entry(line)
  local bars, name = line:match("^([| │]*)(.*)$")
  local _, depth = bars:gsub("|", "")
  local _, deeper = bars:gsub("│", "")
  return depth + deeper, name
end

---A tree: each name stands below its folder, one bar deeper.
---@param buf integer
---@param top string
---@param lnum integer
---@return string?
local function from_tree(buf, top, lnum)
  local depth, name = tree_entry(line_at(buf, lnum))
  if depth == 0 then
    return nil
  end
  local parents, wanted = {}, depth - 1
  for above = lnum - 1, 1, -1 do
    if wanted == 0 then
      break
    end
    local d, folder = tree_entry(line_at(buf, above))
    if d == wanted then
      table.insert(parents, 1, (folder:gsub("[@/]+$", "")))
      wanted = wanted - 1
    end
  end
  return existing(vim.fs.joinpath(top, unpack(parents)), name)
end

---@type fun(buf: integer, first: integer, last: integer, is_range: boolean): string[]
function M.paths(buf, first, last, is_range)
  local folder = vim.b[buf].netrw_curdir
  if not folder or folder:find("^%a[%w+.-]+://") then
    error("netrw shows no local folder here", 0)
  end
  local style = vim.w.netrw_liststyle or vim.g.netrw_liststyle or THIN
  local column = not is_range and api.nvim_win_get_cursor(0)[2] or nil
  local paths = {}
  for lnum = first, last do
    local line = line_at(buf, lnum)
    if line:sub(1, 1) == '"' and (vim.b[buf].netrw_bannercnt or 0) > lnum then
      line = ""
    end
    if line == "" then
      goto next
    elseif style == WIDE then
      vim.list_extend(paths, from_wide(buf, folder, lnum, column))
    elseif style == TREE then
      paths[#paths + 1] = from_tree(buf, vim.w.netrw_treetop or folder, lnum)
    elseif style == LONG then
      paths[#paths + 1] = from_long(folder, line)
    else
      paths[#paths + 1] = existing(folder, line)
    end
    ::next::
  end
  return paths
end

return M
