--- What the user has begun to write for Claude, kept in Neovim's own state folder: a draft for each folder and number
--- of a session.
local M = {}

---@param n integer number of the session
local function path_of(n)
  local folder = require("claude-code.lib.workspace").tab_folder(0)
  local name = ("%s-%d.md"):format(vim.fn.sha256(folder):sub(1, 16), n)
  return vim.fs.joinpath(vim.fn.stdpath("state"), "claude-code", "drafts", name)
end

---@param n integer number of the session
---@return string[] lines none: there is no draft
function M.read(n)
  local text = require("claude-code.lib.regular_file").read(path_of(n), 1024 * 1024)
  return text and vim.split(text, "\n") or {}
end

--- Keeps it by a rename; forgets it where there is nothing in it.
---@param n integer number of the session
---@return string? problem
function M.keep(n, lines)
  local path = path_of(n)
  if table.concat(lines, "\n"):match("^%s*$") then
    vim.uv.fs_unlink(path)
    return nil
  end
  vim.fn.mkdir(vim.fs.dirname(path), "p", tonumber("700", 8))
  local new = path .. ".new"
  local fd, problem = vim.uv.fs_open(new, "w", tonumber("600", 8))
  if not fd then
    return problem
  end
  local ok, failure = vim.uv.fs_write(fd, table.concat(lines, "\n"))
  vim.uv.fs_close(fd)
  if ok then
    ok, failure = vim.uv.fs_rename(new, path)
  end
  return not ok and failure or nil
end

return M
