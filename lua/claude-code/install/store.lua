--- The folder of downloaded executables, which install.sh uses as well. It is outside of stdpath(), which depends on
--- NVIM_APPNAME:
---   VERSION-TARGET/claude-code-nvim   one folder for each version
---   bin/claude-code-nvim              the stable path, which leads to the version in use
---   download/                         archives and folders of a running installation
local M = {}

local platform = require("claude-code.lib.platform")
local WINDOWS = platform.is_windows
local NAME = require("claude-code.install.executable").NAME
local DAY_S = 24 * 60 * 60
--- Another Neovim may be about to make a new version current.
local SETTLED_S = 10 * 60

---@class claude-code.InstallError
---@field message string for the user

--- Raises a claude-code.InstallError, which ends an installation.
function M.fail(text, ...)
  error({ message = text:format(...) }, 0)
end

function M.root()
  local data = vim.env[WINDOWS and "LOCALAPPDATA" or "XDG_DATA_HOME"]
  -- The XDG specification ignores a relative path.
  data = data and platform.is_absolute(data) and data or nil
  data = data or vim.fs.joinpath(vim.uv.os_homedir(), ".local", "share")
  return vim.fs.joinpath(vim.fs.normalize(data), "claude-code.nvim")
end

---@return string path that the settings of other programs may contain
function M.stable()
  return vim.fs.joinpath(M.root(), "bin", NAME)
end

function M.executable(version, target)
  return vim.fs.joinpath(M.root(), version .. "-" .. target, NAME)
end

function M.download()
  return vim.fs.joinpath(M.root(), "download")
end

--- Another user must not be able to replace what this user runs. The group may write, as in install.sh.
local function refuse_others(path)
  local stat = vim.uv.fs_stat(path)
  if WINDOWS or not stat then
    return
  end
  local is_others = stat.uid ~= vim.uv.getuid() and stat.uid ~= 0
  -- With the sticky bit, as in /tmp, users cannot replace the files of others.
  local is_open = bit.band(stat.mode, tonumber("1002", 8)) == 2
  if is_others or is_open then
    local text = "another user can write to %s and would decide what runs; correct its owner and mode, "
      .. "or set $XDG_DATA_HOME or binary.path"
    M.fail(text, path)
  end
end

--- Makes a folder below `root()`, and its parents. Raises a claude-code.InstallError.
function M.make_folder(path)
  local ok, failure, tries = false, nil, 0
  -- mkdir() fails for each folder that another Neovim creates at the same time.
  while not ok and tries < 5 do
    ok, failure = pcall(vim.fn.mkdir, path, "p", tonumber("755", 8))
    tries = tries + 1
  end
  if not ok then
    local text = "cannot create the folder %s (%s); make it writable, or set binary.path"
    M.fail(text, path, (tostring(failure):gsub("^Vim:", "")))
  end
  refuse_others(M.root())
  refuse_others(path)
end

--- The path always has the old file or the new one.
local function replace(new, path)
  if WINDOWS then
    -- Windows can rename a running program, but not overwrite it.
    vim.uv.fs_rename(path, ("%s.%d.old"):format(path, vim.uv.os_getpid()))
  end
  local renamed, failure = vim.uv.fs_rename(new, path)
  if not renamed then
    M.fail("cannot write %s (%s)", path, failure)
  end
end

--- Moves an executable to its place. Raises a claude-code.InstallError.
---@return string executable
function M.place(unpacked, release)
  local executable = M.executable(release.version, release.target)
  M.make_folder(vim.fs.dirname(executable))
  replace(unpacked, executable)
  return executable
end

--- On Windows an inode has more digits than Lua's numbers.
local function identity(path)
  local stat = vim.uv.fs_stat(path)
  return stat and { stat.dev, stat.ino, stat.size, stat.mtime, stat.birthtime }
end

local function is_same_file(a, b)
  local one = identity(a)
  return one ~= nil and vim.deep_equal(one, identity(b))
end

--- Makes the stable path lead to `executable`. Raises a claude-code.InstallError.
function M.set_current(executable)
  local stable = M.stable()
  if is_same_file(stable, executable) then
    return
  end
  M.make_folder(vim.fs.dirname(stable))
  local temporary = ("%s.%d"):format(stable, vim.uv.os_getpid())
  vim.uv.fs_unlink(temporary)
  local linked, failure
  if WINDOWS then
    -- Symbolic links need a privilege there.
    linked, failure = vim.uv.fs_link(executable, temporary)
  else
    -- A relative link survives a move of the whole folder.
    local folder = vim.fs.basename(vim.fs.dirname(executable))
    linked, failure = vim.uv.fs_symlink(("../%s/%s"):format(folder, NAME), temporary)
  end
  if not linked then
    M.fail("cannot make %s lead to %s (%s)", stable, executable, failure)
  end
  replace(temporary, stable)
end

---@return number seconds since the last change
local function age(path)
  local stat = vim.uv.fs_lstat(path)
  return stat and os.time() - stat.mtime.sec or 0
end

--- Removes all versions but `executable` and the one behind the stable path. If these are the same, an earlier run has
--- removed the others.
function M.prune(executable)
  if is_same_file(executable, M.stable()) then
    return
  end
  for name, kind in vim.fs.dir(M.root()) do
    local folder = vim.fs.joinpath(M.root(), name)
    local other = vim.fs.joinpath(folder, NAME)
    if
      kind == "directory"
      and name:match("^%d+%.%d+%.%d+.*%-%w+%-")
      and not is_same_file(other, executable)
      and not is_same_file(other, M.stable())
      and age(folder) > SETTLED_S
    then
      vim.fn.delete(folder, "rf")
    end
  end
end

--- Removes leftovers of killed runs.
---@param kept string name of the archive to keep
function M.sweep(kept)
  for _, folder in ipairs({ M.download(), vim.fs.dirname(M.stable()) }) do
    for name in vim.fs.dir(folder) do
      local path = vim.fs.joinpath(folder, name)
      if name ~= NAME and name ~= kept and age(path) > DAY_S then
        vim.fn.delete(path, "rf")
      end
    end
  end
end

return M
