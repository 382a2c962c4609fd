--- Where downloaded executables live. Below one folder, outside of stdpath(), which NVIM_APPNAME
--- moves:
---   VERSION-TARGET/claude-code-nvim   each version in a folder of its own, complete or not there
---   VERSION-TARGET/contract           the number of its contract
---   VERSION-TARGET/sha256             the checksum of its executable
---   VERSION-TARGET.unusable           why its executable does not run on this machine
---   bin/claude-code-nvim              the stable path: leads to the version installed last
---   download/                         what is not verified yet
local M = {}

local async = require("claude-code.install.async")

local WINDOWS = vim.fn.has("win32") == 1
local NAME = require("claude-code.install.executable").NAME
local DAY_S = 24 * 60 * 60
--- Another Neovim may be about to make its new version the current one.
local SETTLED_S = 10 * 60

---@return string
function M.root()
  local data
  if WINDOWS then
    data = vim.env.LOCALAPPDATA
  else
    local xdg = vim.env.XDG_DATA_HOME
    -- The XDG specification: a relative path is to be ignored.
    data = xdg and vim.startswith(xdg, "/") and xdg or nil
  end
  data = data or vim.fs.joinpath(vim.uv.os_homedir(), ".local", "share")
  return vim.fs.joinpath(vim.fs.normalize(data), "claude-code.nvim")
end

--- The one path that may be written into settings of other programs.
---@return string
function M.stable()
  return vim.fs.joinpath(M.root(), "bin", NAME)
end

---@param version string
---@param target string
---@return string
function M.executable(version, target)
  return vim.fs.joinpath(M.root(), version .. "-" .. target, NAME)
end

---@return string
function M.download()
  return vim.fs.joinpath(M.root(), "download")
end

--- Who could replace the executable could run programs as this user. A group may write, as in install.sh.
---@param path string
---@return string? message
local function refusal(path)
  local stat = vim.uv.fs_stat(path)
  if WINDOWS or not stat then
    return nil
  end
  local is_others = stat.uid ~= vim.uv.getuid() and stat.uid ~= 0
  -- In a folder as /tmp everybody may add files, and not replace them.
  local is_open = bit.band(stat.mode, tonumber("1002", 8)) == 2
  if is_others or is_open then
    local text = "another user can write to %s and would decide what runs; correct its owner and mode, "
      .. "or set $XDG_DATA_HOME or binary.path"
    return text:format(path)
  end
end

--- Makes a folder below `root()`, and those above it. mkdir() fails when another Neovim makes one of them just
--- then, and the next try succeeds.
---@param path string
---@return boolean? made
---@return string? message
function M.make_folder(path)
  local failure
  for _ = 1, 3 do
    local ok
    ok, failure = pcall(vim.fn.mkdir, path, "p", tonumber("755", 8))
    if ok then
      local refused = refusal(M.root()) or refusal(path)
      return refused == nil or nil, refused
    end
  end
  local text = "cannot create the folder %s (%s); make it writable, or set binary.path"
  return nil, text:format(path, (tostring(failure):gsub("^Vim:", "")))
end

--- The version that the stable path leads to, as the name of its folder. Nil on Windows.
---@return string?
function M.current()
  local link = vim.uv.fs_readlink(M.stable())
  return link and link:match("([^/]+)/[^/]+$")
end

--- Replaces what is in a version's folder: at every moment there is an executable in it.
---@param folder string
---@param final string
---@return boolean replaced
local function replace_in_place(folder, final)
  -- A program that runs cannot be replaced there.
  if
    WINDOWS or not vim.uv.fs_rename(vim.fs.joinpath(folder, NAME), vim.fs.joinpath(final, NAME))
  then
    return false
  end
  for name in vim.fs.dir(folder) do
    vim.uv.fs_rename(vim.fs.joinpath(folder, name), vim.fs.joinpath(final, name))
  end
  return true
end

--- Moves a complete folder to its final name. If another Neovim was faster, its folder stays.
---@param folder string with the executable in it
---@param release claude-code.Release
---@param replace boolean whether a folder that is there already has to go
---@return string? executable
---@return string? message
function M.move_in(folder, release, replace)
  local executable = M.executable(release.version, release.target)
  local final = vim.fs.dirname(executable)
  if replace and vim.uv.fs_stat(final) then
    if replace_in_place(folder, final) then
      return executable
    end
    vim.uv.fs_rename(final, folder .. ".old")
  end
  local moved, failure = vim.uv.fs_rename(folder, final)
  if not moved and not vim.uv.fs_stat(executable) then
    return nil, ("cannot move %s to %s (%s)"):format(folder, final, failure)
  end
  vim.fn.delete(folder .. ".old", "rf")
  return executable
end

--- Windows has no symbolic links for everyone: a copy. A program that runs cannot be overwritten
--- there, but renamed.
---@param executable string
---@param temporary string
---@return string? failure
local function copy(executable, temporary)
  local failure = async.await(function(done)
    vim.uv.fs_copyfile(executable, temporary, done)
  end)
  if not failure then
    vim.uv.fs_rename(M.stable(), ("%s.%d.old"):format(M.stable(), vim.uv.os_getpid()))
  end
  return failure
end

---@param executable string
---@param temporary string
---@return string? failure
local function link(executable, temporary)
  -- Relative, so that the whole folder may move.
  local folder = vim.fs.basename(vim.fs.dirname(executable))
  local _, failure = vim.uv.fs_symlink(("../%s/%s"):format(folder, NAME), temporary)
  return failure
end

--- Lets the stable path lead to `executable`: at every moment it leads to the old or the new one.
---@param executable string
---@return boolean? is_set
---@return string? message
function M.set_current(executable)
  local stable = M.stable()
  local made, message = M.make_folder(vim.fs.dirname(stable))
  if not made then
    return nil, message
  end
  local temporary = ("%s.%d"):format(stable, vim.uv.os_getpid())
  vim.uv.fs_unlink(temporary)
  local failure = (WINDOWS and copy or link)(executable, temporary)
  local renamed, refused = vim.uv.fs_rename(temporary, stable)
  if failure or not renamed then
    failure = failure or refused
    return nil, ("cannot make %s lead to %s (%s)"):format(stable, executable, failure)
  end
  return true
end

---@param path string
---@return number seconds since it was changed
local function age(path)
  local stat = vim.uv.fs_lstat(path)
  return stat and os.time() - stat.mtime.sec or 0
end

--- The folders of versions other than `kept`, the ones installed last first.
---@param kept string
---@return string[] names
local function other_versions(kept)
  local names = {}
  for name, kind in vim.fs.dir(M.root()) do
    if kind == "directory" and name:match("^%d+%.%d+%.%d+.*%-%w+%-") and name ~= kept then
      table.insert(names, name)
    end
  end
  table.sort(names, function(a, b)
    return age(vim.fs.joinpath(M.root(), a)) < age(vim.fs.joinpath(M.root(), b))
  end)
  return names
end

--- Removes the versions but `release` and the one before it: the one that the stable path led to
--- (`before`), or the newest.
---@param release claude-code.Release
---@param before? string name of a folder
function M.prune(release, before)
  local kept = release.version .. "-" .. release.target
  local others = other_versions(kept)
  local previous = vim.tbl_contains(others, before) and before or others[1]
  for _, name in ipairs(others) do
    local folder = vim.fs.joinpath(M.root(), name)
    if name ~= previous and age(folder) > SETTLED_S then
      vim.fn.delete(folder, "rf")
    end
  end
end

--- Removes what runs that were killed have left behind.
function M.sweep()
  for _, folder in ipairs({ M.download(), vim.fs.dirname(M.stable()) }) do
    for name in vim.fs.dir(folder) do
      local path = vim.fs.joinpath(folder, name)
      if name ~= NAME and age(path) > DAY_S then
        vim.fn.delete(path, "rf")
      end
    end
  end
end

---@param path string
---@return string?
local function read(path)
  return require("claude-code.lib.regular_file").head(path, 10000)
end

---@param path string
---@param text string
local function write(path, text)
  local file = io.open(path, "wb")
  if file then
    file:write(text)
    file:close()
  end
end

--- Writes down what is known about a version.
---@param executable string in the folder that becomes VERSION-TARGET
---@param contract integer
function M.describe(executable, contract)
  local folder = vim.fs.dirname(executable)
  write(vim.fs.joinpath(folder, "contract"), tostring(contract))
  local sum = require("claude-code.install.archive").checksum(executable)
  write(vim.fs.joinpath(folder, "sha256"), sum or "")
end

--- Whether an executable is as it was installed. One with a changed byte may print its version, and
--- end later.
---@param executable string
---@return boolean
function M.is_intact(executable)
  local sum = read(vim.fs.joinpath(vim.fs.dirname(executable), "sha256")) or ""
  return sum == "" or sum == require("claude-code.install.archive").checksum(executable)
end

--- The executable of another version that works with this plugin: the newest of those with the same
--- contract.
---@return string? executable
---@return string? version
function M.find_compatible()
  local target = require("claude-code.install.target").name()
  local contract = require("claude-code.install.contract")
  local best, version
  for name in vim.fs.dir(M.root()) do
    local candidate = target and name:match("^(.+)%-" .. vim.pesc(target) .. "$")
    local parsed = candidate and vim.version.parse(candidate)
    local number = parsed and read(vim.fs.joinpath(M.root(), name, "contract"))
    local executable = parsed and M.executable(candidate, target)
    if
      tonumber(number) == contract.number
      and candidate ~= contract.version
      and require("claude-code.programs").runs(executable)
      and (not version or vim.version.gt(parsed, version))
    then
      best, version = executable, candidate
    end
  end
  return best, version
end

---@param release claude-code.Release
---@return string path
local function unusable_path(release)
  return vim.fs.joinpath(M.root(), ("%s-%s.unusable"):format(release.version, release.target))
end

--- Remembers that the executable of a release does not run here: it is not downloaded again until
--- the user asks for it.
---@param release claude-code.Release
---@param message? string why; nil: it does run
function M.set_unusable(release, message)
  if message then
    write(unusable_path(release), message)
  else
    vim.uv.fs_unlink(unusable_path(release))
  end
end

---@param release claude-code.Release
---@return string? message why its executable does not run here
function M.unusable(release)
  return read(unusable_path(release))
end

return M
