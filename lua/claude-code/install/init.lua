--- Installs the executable of this version of the plugin: from a download or a local archive,
--- verified before anything of it is unpacked or run, moved to its place by a rename. Killed at any
--- moment it leaves the version before or the new one, and files that a later run removes.
local M = {}

local archives = require("claude-code.install.archive")
local store = require("claude-code.install.store")

--- A virus scanner may read all of it before its first run.
local FIRST_RUN_MS = 30 * 1000
--- Longer than the download and everything else may take together.
local WAIT_MS = 60 * 60 * 1000

---@class claude-code.InstallRequest
---@field release? claude-code.Release the one that belongs to this plugin, if it is known
---@field archive? string path of a local archive, instead of a download
---@field force? boolean even if it is installed

---@type (fun(path: string?, message: string))[]
local waiting = {}

--- Runs an executable once, and raises a claude-code.InstallError unless it has the release's version.
local function probe(executable, release)
  local version, failure = coroutine.yield(function(done)
    require("claude-code.install.executable").version(executable, done, FIRST_RUN_MS)
  end)
  if version == release.version then
    return
  elseif version then
    store.fail("the executable of %s has version %s", release.file, version)
  end
  -- access(2) answers for the mount, too.
  if not require("claude-code.programs").runs(executable) then
    local text = "the file system of %s does not run programs (noexec); set $XDG_DATA_HOME to a "
      .. "folder elsewhere and run :Claude install, or set binary.path"
    store.fail(text, store.root())
  end
  local advice = release.target:find("musl", 1, true)
      and "install libstdc++ (Alpine: `apk add libstdc++`), then run :Claude install"
    or "build one: " .. require("claude-code.install.release").build_command()
  local text = "the executable of %s does not run on this machine: %s; %s"
  store.fail(text, release.file, failure, advice)
end

--- Where an archive that was verified stays if its executable does not run here: it is not downloaded again.
local function kept_archive(release)
  return vim.fs.joinpath(store.download(), release.file)
end

--- Puts the verified archive at `path`. A local one is copied: another user may be able to replace it between
--- check and use.
local function fetch(release, archive, path)
  if archive then
    archive = vim.fn.fnamemodify(vim.fs.normalize(archive), ":p")
    archives.check_size(release, archive)
    local failure = coroutine.yield(function(copied)
      vim.uv.fs_copyfile(archive, path, copied)
    end)
    if failure then
      store.fail("cannot copy %s: %s", archive, failure)
    end
  elseif not vim.uv.fs_rename(kept_archive(release), path) then
    archives.fetch(release, path)
  end
  archives.verify(release, path)
end

---@param work string path of files that are removed afterwards
local function install(release, request, work)
  local archive = work .. ".part"
  fetch(release, request.archive, archive)
  store.make_folder(work)
  local unpacked = archives.unpack(archive, release, work)
  local runs, failure = pcall(probe, unpacked, release)
  if not runs then
    vim.uv.fs_rename(archive, kept_archive(release))
    error(failure, 0)
  end
  return store.place(unpacked, release)
end

---@return string executable
---@return string done to the executable, for the user
local function run(request)
  local built = require("claude-code.install.release").build_path()
  if not request.archive and require("claude-code.programs").runs(built) then
    return built, "the executable is built already: " .. built
  end
  local release, remedy, reason = request.release, nil, nil
  if not release then
    release, remedy, reason = require("claude-code.install.release").find()
  end
  if not release then
    return store.fail("%s: %s", remedy, reason)
  end
  store.sweep(release.file)
  local executable = store.executable(release.version, release.target)
  local is_present = not request.force and vim.uv.fs_stat(executable) ~= nil
  if not is_present or not pcall(probe, executable, release) then
    store.make_folder(store.download())
    local name = ("%s.%d"):format(release.file, vim.uv.os_getpid())
    local work = vim.fs.joinpath(store.download(), name)
    local ok, failure = pcall(install, release, request, work)
    vim.uv.fs_unlink(work .. ".part")
    vim.fn.delete(work, "rf")
    if not ok then
      error(failure, 0)
    end
  end
  store.prune(executable)
  store.set_current(executable)
  return executable, "installed " .. executable
end

---@return boolean
function M.is_running()
  return #waiting > 0
end

local function answer(executable, message)
  local log = require("claude-code.messages.log")
  if executable then
    log.info("%s", message)
  else
    log.error("installing failed: %s", message)
  end
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(executable, message)
  end
end

--- Installs without blocking Neovim. A second call while one runs gets the same result.
---@param request claude-code.InstallRequest
---@param callback fun(executable: string?, message: string) in the main loop
function M.start(request, callback)
  table.insert(waiting, callback)
  if #waiting > 1 then
    return
  end
  local thread = coroutine.create(run)
  local function step(...)
    local ok, result, done = coroutine.resume(thread, ...)
    if not ok then
      answer(nil, type(result) == "table" and result.message or debug.traceback(thread, result))
    elseif coroutine.status(thread) == "dead" then
      answer(result, done)
    else
      -- It waits until the function that it has yielded calls back.
      result(vim.schedule_wrap(step))
    end
  end
  step(request)
end

--- Installs and waits for the end: for a build step, and for a Neovim that ends right after.
---@param request claude-code.InstallRequest
---@return string? executable
---@return string message
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
