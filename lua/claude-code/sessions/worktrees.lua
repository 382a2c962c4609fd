--- The work trees of a git repository, read from its files: git itself would take 5 ms a folder.
local M = {}

---@class claude-code.Worktree
---@field path string real path of its top
---@field name? string nil for the main one
---@field git_dir string

---Of a folder that may hold anything: a line's bytes, as a path may have, and linked work trees.
local MAX_BYTES = 4200
local MAX_WORKTREES = 200

---@return string? line the first one
local function first_line(path)
  local text = require("claude-code.lib.regular_file").head(path, MAX_BYTES)
  return text and text:match("^[^\r\n]*")
end

local function below(path, folder)
  return path:match("^/") and path or vim.fs.joinpath(folder, path)
end

---Do the repository's entry and the work tree name each other? Anybody can write one of them.
---@param git_dir string of the work tree, in `common`
---@param path string of the work tree
local function is_linked(common, git_dir, path)
  local dot_git = vim.fs.joinpath(path, ".git")
  local back = (first_line(dot_git) or ""):match("^gitdir: (.+)$")
  local given = first_line(vim.fs.joinpath(git_dir, "gitdir"))
  local real = vim.uv.fs_realpath
  local folder = real(vim.fs.dirname(common))
  local own = folder
    and vim.fs.joinpath(folder, vim.fs.basename(common), "worktrees", vim.fs.basename(git_dir))
  return own ~= nil
    and back ~= nil
    and given ~= nil
    and real(below(back, path)) == own
    and real(below(given, git_dir)) == real(dot_git)
end

--- The folder that all work trees of a repository share. In a linked one `.git` is a file that names
--- its own folder below it.
local function common_folder(top)
  local dot_git = vim.fs.joinpath(top, ".git")
  local own = (first_line(dot_git) or ""):match("^gitdir: (.+)$")
  if not own then
    return dot_git
  end
  own = below(own, top)
  local common = first_line(vim.fs.joinpath(own, "commondir"))
  -- A submodule has none.
  if not common then
    return nil
  end
  common = vim.uv.fs_realpath(below(common, own))
  return common and is_linked(common, own, top) and common or nil
end

---@param folder string
---@return claude-code.Worktree[] of the repository around the folder, the main one first
function M.of(folder)
  local top = vim.fs.root(folder, ".git")
  local common = top and common_folder(top)
  if not common then
    return {}
  end
  local result = {}
  local function add(path, git_dir, name)
    local real = path and vim.uv.fs_realpath(path)
    if real then
      table.insert(result, { path = real, git_dir = git_dir, name = name })
    end
  end
  if vim.fs.basename(common) == ".git" then
    add(vim.fs.dirname(common), common)
  end
  local linked = vim.fs.joinpath(common, "worktrees")
  for name in vim.iter(vim.fs.dir(linked)):take(MAX_WORKTREES) do
    local git_dir = vim.fs.joinpath(linked, name)
    local dot_git = first_line(vim.fs.joinpath(git_dir, "gitdir"))
    local path = dot_git and vim.fs.dirname(below(dot_git, git_dir))
    add(path and is_linked(common, git_dir, path) and path, git_dir, name)
  end
  return result
end

---@param folder string
---@return { path?: string, name?: string, branch?: string } of the work tree around the folder; none: it is not in one
function M.at(folder)
  local around ---@type claude-code.Worktree?
  for _, worktree in ipairs(M.of(folder)) do
    local is_deeper = not around or #worktree.path > #around.path
    if is_deeper and M.is_below(folder, worktree.path) then
      around = worktree
    end
  end
  local head = around and first_line(vim.fs.joinpath(around.git_dir, "HEAD")) or ""
  return {
    path = around and around.path,
    name = around and around.name,
    branch = head:match("^ref: refs/heads/(.+)$"),
  }
end

---@param path string
---@param folder string
---@return boolean
function M.is_below(path, folder)
  return path == folder or vim.startswith(path, folder:gsub("/?$", "/"))
end

---@param cwd string
---@return boolean is it in the workspace, or in a work tree of its repositories?
function M.is_covered(cwd)
  return vim.iter(require("claude-code.lib.workspace").folders()):any(function(folder)
    return M.is_below(cwd, folder)
      or vim.iter(M.of(folder)):any(function(worktree)
        return M.is_below(cwd, worktree.path)
      end)
  end)
end

return M
