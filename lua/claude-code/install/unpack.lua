--- Takes the executable out of a verified archive.
local M = {}

local async = require("claude-code.install.async")

--- Windows' own tar, since another one on the path may take `C:` for a host.
---@return string? path
---@return string? message
local function tar()
  if vim.fn.has("win32") == 1 then
    return vim.fs.joinpath(vim.env.SystemRoot, "System32", "tar.exe")
  end
  return require("claude-code.programs").on_path("tar")
end

--- Until the data are on the disk, a power cut could leave an executable of zeros behind the rename.
---@param path string
local function flush(path)
  local file = vim.uv.fs_open(path, "r+", 0)
  if file then
    async.await(function(done)
      vim.uv.fs_fsync(file, done)
    end)
    vim.uv.fs_close(file)
  end
end

--- Unpacks the executable alone, to FOLDER/claude-code-nvim.
---@param archive string
---@param release claude-code.Release
---@param folder string empty
---@return string? executable
---@return string? message
function M.executable(archive, release, folder)
  local name = require("claude-code.install.store").name()
  local top = release.file:gsub("%.tar%.gz$", "")
  -- -o: not with the owner that the archive names, when root unpacks.
  local program, missing = tar()
  if not program then
    return nil,
      ("cannot unpack %s: %s; install it, then run :Claude install"):format(archive, missing)
  end
  local command = { program, "-x", "-z", "-o", "-f", archive, "-C", folder, top .. "/" .. name }
  local result = async.system(command, { cwd = folder })
  if result.code ~= 0 then
    local text = "cannot unpack %s into %s: %s; free some space there, or fix the cause, then run "
      .. ":Claude install"
    return nil, text:format(archive, folder, vim.trim(result.stderr):match("^[^\n]*"))
  end
  local unpacked = vim.fs.joinpath(folder, top, name)
  local stat = vim.uv.fs_lstat(unpacked)
  if not stat or stat.type ~= "file" or stat.nlink > 1 then
    return nil, ("%s was not used: its executable is not a file"):format(archive)
  end
  -- As root, tar gives the file its setuid bit, too.
  vim.uv.fs_chmod(unpacked, tonumber("755", 8))
  local executable = vim.fs.joinpath(folder, name)
  local moved, failure = vim.uv.fs_rename(unpacked, executable)
  if not moved then
    return nil, ("cannot move the executable out of %s (%s)"):format(folder, failure)
  end
  vim.uv.fs_rmdir(vim.fs.joinpath(folder, top))
  flush(executable)
  return executable
end

return M
