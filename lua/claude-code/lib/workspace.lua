--- The folders that this Neovim publishes, as real paths. A Claude CLI with a real path in one of them connects
--- automatically.
local autocommands = require("claude-code.lib.autocommands")
local platform = require("claude-code.lib.platform")

local M = {}

local home_allowed = false

local function with_slash(path)
  return path:match("/$") and path or path .. "/"
end

local function real_path(path)
  local real = vim.uv.fs_realpath(path)
  return real and platform.normal(real)
end

---With the home folder, a folder above it, or a drive, CLIs would connect from anywhere.
---@param folder string real path
local function is_home_or_above(folder)
  local home = real_path(vim.uv.os_homedir() or "/") or "/"
  return vim.startswith(with_slash(home), with_slash(folder)) or folder:match("^%a:/?$") ~= nil
end

---@return string root of the git repository around it, unless that is the home folder or above; else the folder
function M.root(folder)
  local root = vim.fs.root(folder, ".git")
  local real = root and real_path(root)
  return real and not is_home_or_above(real) and real or folder
end

---@param number integer of a tab page; 0: the current one
---@return string folder; with 'autochdir', which follows each file, the root of the git repository
function M.tab_folder(number)
  local folder = vim.fn.getcwd(-1, number)
  return vim.o.autochdir and M.root(folder) or folder
end

---@return string[] workspace folders of language servers with a buffer
local function lsp_folders()
  local folders = {}
  for _, client in ipairs(require("claude-code.lib.lsp").clients()) do
    if next(client.attached_buffers or {}) then
      for _, folder in ipairs(client.workspace_folders or {}) do
        if vim.startswith(folder.uri, "file:") then
          table.insert(folders, vim.uri_to_fname(folder.uri))
        end
      end
    end
  end
  return folders
end

---@return string[] folders of the current tab page, other tab pages, and language servers; the home folder and folders
---above it only if the user allowed that for tab pages
function M.folders()
  local seen, result = {}, {}
  -- Claude may have replaced a folder of the project with a symbolic link.
  local function leads_out(folder, real)
    for _, other in ipairs(result) do
      local prefix = with_slash(other)
      if vim.startswith(folder, prefix) and not vim.startswith(real, prefix) then
        return true
      end
    end
  end
  local function add(folder, home_ok)
    local real = real_path(folder)
    if not real or seen[real] or leads_out(platform.normal(folder), real) then
      return
    elseif home_ok or not is_home_or_above(real) then
      seen[real] = true
      table.insert(result, real)
    end
  end
  -- 0 is the current tab page.
  for number = 0, vim.fn.tabpagenr("$") do
    add(M.tab_folder(number), home_allowed)
  end
  for _, folder in ipairs(lsp_folders()) do
    add(folder, false)
  end
  return result
end

---@param allowed boolean may a tab page's folder be the home folder or above it?
function M.allow_home(allowed)
  home_allowed = allowed
end

---Calls `listener` when the folders have changed. It replaces the previous listener.
---@return fun() cancel
function M.on_change(listener)
  local last, is_cancelled = M.folders(), false
  -- During LspDetach the client still exists. A timer could be later than the next request.
  local compare_soon = vim.schedule_wrap(function()
    local folders = M.folders()
    if not is_cancelled and not vim.deep_equal(folders, last) then
      last = folders
      listener()
    end
  end)
  local group = autocommands.new("workspace")
  group:on({ "DirChanged", "TabEnter", "TabClosed", "LspAttach", "LspDetach" }, compare_soon)
  group:on("LspNotify", function(_, event)
    -- vim.lsp.buf.add_workspace_folder() and remove_workspace_folder() fire no other event.
    if event.data and event.data.method == "workspace/didChangeWorkspaceFolders" then
      compare_soon()
    end
  end)
  return function()
    is_cancelled = true
    group:stop()
  end
end

return M
