--- The file that the text under the cursor names, as Claude writes such names.
local api = vim.api

local M = {}

--- What a Markdown link under the cursor leads to, else the name under it.
---@return string
function M.under_cursor()
  local line, column = api.nvim_get_current_line(), api.nvim_win_get_cursor(0)[2] + 1
  for first, target, last in line:gmatch("()%[[^%]]*%]%(([^)%s]+)%)()") do
    if column >= first and column < last then
      return target
    end
  end
  return vim.fn.expand("<cfile>")
end

--- The name without a line behind it: `src/a.ts:12`, `@src/a.ts#L12-14`.
---@param name string under the cursor
---@return string bare
---@return integer? line 1-based
function M.split(name)
  local bare, line = name:match("^@?(.-)#L(%d+)")
  line = line or vim.fn.expand("<cWORD>"):match(vim.pesc(name) .. ":(%d+)")
  return bare or (name:gsub("^@", "")), tonumber(line)
end

--- The file that a name under the cursor means.
---@param name string
---@param folder? string from which names count
---@return string? path
---@return integer? line 1-based
function M.file(name, folder)
  local bare, line = M.split(name)
  if bare == "" then
    return nil
  end
  local path = vim.fs.normalize(bare)
  local full = path:match("^/") and path or vim.fs.joinpath(folder or vim.fn.getcwd(), path)
  return vim.uv.fs_stat(full) and full or nil, line
end

return M
