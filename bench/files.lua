--- Files, buffers and diagnostics to measure with.
local api = vim.api

local M = {}

local namespace = api.nvim_create_namespace("bench")

---@param count integer buffers to open, each with a file of 200 lines
---@return string[] paths
function M.open(count)
  local lines, paths = {}, {}
  for i = 1, 200 do
    lines[i] = ("line %d: some text that is as long as lines of code tend to be"):format(i)
  end
  for i = 1, count do
    local path = ("%s/file-%03d.txt"):format(vim.fn.getcwd(), i)
    vim.fn.writefile(lines, path)
    vim.cmd.edit(path)
    paths[i] = path
  end
  return paths
end

---Spreads diagnostics over the first ten files.
---@param paths string[]
---@param count integer in all
function M.diagnose(paths, count)
  local items = {}
  for i = 1, count / 10 do
    local lnum = (i - 1) % 200
    local message = ("something is wrong here, the problem %d"):format(i)
    items[i] = { lnum = lnum, col = 4, end_lnum = lnum, end_col = 12, message = message }
    items[i].severity, items[i].source, items[i].code = i % 4 + 1, "bench", "B" .. i % 100
  end
  for i = 1, 10 do
    vim.diagnostic.set(namespace, vim.fn.bufadd(paths[i]), items)
  end
end

return M
