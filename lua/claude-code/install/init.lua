--- Installs the executable of this version of the plugin: from a download or a local archive,
--- verified before anything of it is unpacked or run, moved to its place by a rename. Killed at any
--- moment it leaves the version before or the new one, and files that the next run removes.
local M = {}

local archives = require("claude-code.install.archive")
local async = require("claude-code.install.async")
local download = require("claude-code.install.download")
local releases = require("claude-code.install.release")
local store = require("claude-code.install.store")

local POLL_MS = 250
--- A virus scanner may read all of it before its first run.
local FIRST_RUN_MS = 30 * 1000
--- Longer than the download and everything else may take together.
local WAIT_MS = 60 * 60 * 1000

---@class claude-code.InstallRequest
---@field release? claude-code.Release the one that belongs to this plugin, if it is known
---@field archive? string path of a local archive, instead of a download
---@field force? boolean even if it is installed

---@type (fun(path: string?, message: string?))[]
local waiting = {}

--- Runs an executable once, and checks its version.
---@param executable string
---@param release claude-code.Release
---@return boolean? runs
---@return string? message
local function probe(executable, release)
  local version, failure = async.await(function(done)
    require("claude-code.install.executable").version(executable, done, FIRST_RUN_MS)
  end)
  if version == release.version then
    return true
  elseif version then
    return nil, ("the executable of %s has version %s"):format(release.file, version)
  end
  -- access(2) answers for the mount, too.
  if not require("claude-code.programs").runs(executable) then
    local text = "the file system of %s does not run programs (noexec); set $XDG_DATA_HOME to a "
      .. "folder elsewhere and run :Claude install, or set binary.path"
    return nil, text:format(store.root())
  end
  local advice = release.target:find("musl", 1, true)
      and "install libstdc++ (Alpine: `apk add libstdc++`), then run :Claude install"
    or "build one: " .. require("claude-code.install.plugin_files").build_command()
  local text = "the executable of %s does not run on this machine: %s; %s"
  return nil, text:format(release.file, failure, advice)
end

--- Unpacks a verified archive in `folder`, and moves the executable to its place.
---@param release claude-code.Release
---@param archive string
---@param folder string
---@param replace boolean
---@return string? executable
---@return string? message
local function unpack_in(release, archive, folder, replace)
  local made, refused = store.make_folder(folder)
  if not made then
    return nil, refused
  end
  local unpacked, message = archives.unpack(archive, release, folder)
  if not unpacked then
    return nil, message
  end
  local runs, why = probe(unpacked, release)
  store.set_unusable(release, why)
  if not runs then
    return nil, why
  end
  store.describe(unpacked, require("claude-code.install.plugin_files").contract().number)
  return store.move_in(folder, release, replace)
end

---@param release claude-code.Release
---@param archive string
---@param replace boolean
---@param original? string the archive's path, where it is a copy
---@return string? executable
---@return string? message
local function verify_and_unpack(release, archive, replace, original)
  local verified, wrong = archives.verify(release, archive, original)
  if not verified then
    return nil, wrong
  end
  local name = ("%s-%s.%d"):format(release.version, release.target, vim.uv.os_getpid())
  local folder = vim.fs.joinpath(store.download(), name)
  vim.fn.delete(folder, "rf")
  local executable, message = unpack_in(release, archive, folder, replace)
  vim.fn.delete(folder, "rf")
  return executable, message
end

--- From a copy: another user may be able to replace the archive between check and use.
---@param release claude-code.Release
---@param archive string
---@param replace boolean
---@return string? executable
---@return string? message
local function install_archive(release, archive, replace)
  local stat = vim.uv.fs_stat(archive)
  if not stat or stat.size ~= release.size then
    return nil, select(2, archives.verify(release, archive))
  end
  local copy, refused = download.new_file(release.file)
  if not copy then
    return nil, refused
  end
  async.await(function(done)
    vim.uv.fs_copyfile(archive, copy, done)
  end)
  local executable, message = verify_and_unpack(release, copy, replace, archive)
  vim.uv.fs_unlink(copy)
  return executable, message
end

--- Waits while another Neovim installs the same. Returns whether it succeeded.
---@param release claude-code.Release
---@return boolean installed
local function await_others(release)
  while download.is_elsewhere(release.file) do
    async.sleep(POLL_MS)
    if vim.uv.fs_stat(store.executable(release.version, release.target)) then
      return true
    end
  end
  return false
end

--- Where an archive that was verified stays if its executable does not run here.
---@param release claude-code.Release
---@return string
local function kept_archive(release)
  return vim.fs.joinpath(store.download(), release.file)
end

---@param release claude-code.Release
---@param replace boolean
---@return string? executable
---@return string? message
local function install_download(release, replace)
  local path, refused = download.new_file(release.file)
  if not path then
    return nil, refused
  end
  local executable, message
  if not replace and await_others(release) then
    executable = store.executable(release.version, release.target)
  else
    local done
    done, message = download.fetch(release, path)
    if done then
      executable, message = verify_and_unpack(release, path, replace)
    end
  end
  if not executable and store.unusable(release) then
    -- For :Claude install, once the user has made it run.
    vim.uv.fs_rename(path, kept_archive(release))
  end
  vim.uv.fs_unlink(path)
  return executable, message
end

---@param release claude-code.Release
---@param request claude-code.InstallRequest
---@return string? executable
---@return string? message
local function install(release, request)
  local executable = store.executable(release.version, release.target)
  local is_there = vim.uv.fs_stat(executable) ~= nil
  local is_kept = is_there and not request.force
  if is_kept and store.is_intact(executable) and probe(executable, release) then
    return executable
  end
  local made, refused = store.make_folder(store.download())
  if not made then
    return nil, refused
  elseif request.archive then
    local archive = vim.fn.fnamemodify(vim.fs.normalize(request.archive), ":p")
    return install_archive(release, archive, is_there)
  end
  local kept = kept_archive(release)
  if not archives.verify(release, kept) then
    return install_download(release, request.force or is_there)
  end
  local installed_now, message = verify_and_unpack(release, kept, is_there)
  if installed_now then
    vim.uv.fs_unlink(kept)
  end
  return installed_now, message
end

---@param request claude-code.InstallRequest
---@return string? executable
---@return string? message
local function run(request)
  local release, remedy, reason = request.release, nil, nil
  if not release then
    release, remedy, reason = releases.find()
  end
  if not release then
    return nil, ("%s: %s"):format(remedy, reason)
  end
  store.sweep()
  local before = store.current()
  local executable, failure = install(release, request)
  if not executable then
    return nil, failure
  end
  local is_set, refused = store.set_current(executable)
  if not is_set then
    return nil, refused
  end
  store.prune(release, before)
  return executable
end

---@return boolean
function M.is_running()
  return #waiting > 0
end

--- Installs without blocking Neovim. A second call while one runs gets the same result.
---@param request claude-code.InstallRequest
---@param callback fun(executable: string?, message: string?) in the main loop
function M.start(request, callback)
  table.insert(waiting, callback)
  if #waiting > 1 then
    return
  end
  async.run(function()
    return run(request)
  end, function(executable, message)
    local log = require("claude-code.messages.log")
    if executable then
      log.info("installed %s", executable)
    else
      log.error("installing failed: %s", message)
    end
    local callbacks = waiting
    waiting = {}
    for _, called in ipairs(callbacks) do
      called(executable, message)
    end
  end)
end

--- Installs and waits for the end: for a build step, and for a Neovim that ends right after.
---@param request claude-code.InstallRequest
---@return string? executable
---@return string? message
function M.wait(request)
  local done, executable, message
  M.start(request, function(...)
    done, executable, message = true, ...
  end)
  vim.wait(WAIT_MS, function()
    return done
  end, 20)
  if not done then
    return nil, "the installation was interrupted; `:Claude install` begins again"
  end
  return executable, message
end

--- lazy.nvim runs `build = ":Claude install"` in a task, and takes an error for a failed build.
---@return boolean
local function is_lazy_task()
  local config = package.loaded["lazy.core.config"]
  return vim.iter(pairs(config and config.plugins or {})):any(function(_, plugin)
    return vim.iter(plugin._ and plugin._.tasks or {}):any(function(task)
      return task.name == "build" and task:running()
    end)
  end)
end

--- Whether a plugin manager runs :Claude install as its build step, which has to wait for the end and to
--- see an error.
---@return boolean
function M.is_build_step()
  local ok, is_running = pcall(is_lazy_task)
  return ok and is_running
end

return M
