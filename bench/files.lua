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

---@param buf integer
---@param count integer diagnostics
---@param mark string something that sets this list apart from another
function M.diagnose(buf, count, mark)
  local items = {}
  for i = 1, count do
    items[i] = {
      lnum = (i - 1) % 200,
      col = 4,
      end_lnum = (i - 1) % 200,
      end_col = 12,
      severity = i % 4 + 1,
      message = ("something is wrong here, %s %d"):format(mark, i),
      source = "bench",
      code = "B" .. i % 100,
    }
  end
  vim.diagnostic.set(namespace, buf, items)
end

---Spreads diagnostics over the first ten files.
---@param paths string[]
---@param count integer in all
function M.diagnose_all(paths, count)
  for i = 1, 10 do
    M.diagnose(vim.fn.bufadd(paths[i]), count / 10, "first")
  end
end

return M
