--- Finds the executable, and installs the one for this version of the plugin from a download or a local archive. It
--- verifies the archive before it unpacks anything, and renames the executable into its place, so that a kill at any
--- moment leaves the previous version or the new one, and files that a later run removes.
local M = {}

local executables = require("claude-code.install.executable")
local programs = require("claude-code.programs")
local releases = require("claude-code.install.release")
local store = require("claude-code.install.store")
local task = require("claude-code.lib.task")

--- A virus scanner may read the whole file before its first run.
local FIRST_RUN_MS = 30 * 1000
--- Longer than all time limits of an installation together.
local WAIT_MS = 60 * 60 * 1000

---@alias claude-code.BinarySource "path"|"build"|"managed"|"system"

---@class claude-code.Binary
---@field path string absolute
---@field source claude-code.BinarySource

--- The first place with an executable wins.
---@type claude-code.BinarySource[]
M.ORDER = { "build", "managed", "system" }

---@type table<claude-code.BinarySource, fun(): string?>
local finders = {
  build = releases.build_path,
  --- Other versions may belong to the plugin in another Neovim.
  managed = function()
    local target = releases.target()
    local version = require("claude-code.install.contract").version
    return target and store.executable(version, target)
  end,
  system = function()
    return (programs.on_path(executables.NAME))
  end,
}

---@class claude-code.InstallRequest
---@field release? claude-code.Release the one for this machine if left out
---@field archive? string path of a local archive to use instead of a download
---@field force? boolean replace an installed executable

local waiting = {} ---@type (fun(path: string?, message: string))[]

--- Raises a claude-code.InstallError unless the executable runs and has the release's version.
local function probe(executable, release)
  local version, failure = task.await(function(done)
    executables.version(executable, done, FIRST_RUN_MS)
  end)
  if version == release.version then
    return
  elseif version then
    store.fail("the executable of %s has version %s", release.file, version)
  end
  -- access(2) also checks mount options.
  if not programs.runs(executable) then
    local text = "the file system of %s does not run programs (noexec); set $XDG_DATA_HOME to a "
      .. "folder elsewhere and run :Claude install, or set binary.path"
    store.fail(text, store.root())
  end
  local advice = release.target:find("musl", 1, true)
      and "install libstdc++ (Alpine: `apk add libstdc++`), then run :Claude install"
    or release.target:find("darwin", 1, true) and "it needs macOS 13 or newer"
    or "build one: " .. releases.build_command()
  local text = "the executable of %s does not run on this machine: %s; %s"
  store.fail(text, release.file, failure, advice)
end

--- A verified archive stays here if its executable does not run, which saves another download.
local function kept_archive(release)
  return vim.fs.joinpath(store.download(), release.file)
end

--- Puts the verified archive at `path`. Copies a local archive, which another user could replace between check and use.
local function fetch(release, archive, path)
  local archives = require("claude-code.install.archive")
  if archive then
    archive = vim.fn.fnamemodify(vim.fs.normalize(archive), ":p")
    archives.check_size(release, archive)
    local failure = task.await(function(done)
      vim.uv.fs_copyfile(archive, path, vim.schedule_wrap(done))
    end)
    if failure then
      store.fail("cannot copy %s: %s", archive, failure)
    end
  elseif not vim.uv.fs_rename(kept_archive(release), path) then
    archives.fetch(release, path)
  end
  archives.verify(release, path)
end

---@param work string path of temporary files
local function install(release, request, work)
  local archive = work .. ".part"
  fetch(release, request.archive, archive)
  store.make_folder(work)
  local unpacked = require("claude-code.install.archive").unpack(archive, release, work)
  local runs, failure = pcall(probe, unpacked, release)
  if not runs then
    vim.uv.fs_rename(archive, kept_archive(release))
    error(failure, 0)
  end
  return store.place(unpacked, release)
end

---@return string executable, string message
local function run(request)
  local built = releases.build_path()
  if not request.archive and programs.runs(built) then
    return built, "the executable is built already: " .. built
  end
  local release, remedy, reason = request.release, nil, nil
  if not release then
    release, remedy, reason = releases.find()
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

function M.is_running()
  return #waiting > 0
end

local function answer(is_installed, executable, message)
  local log = require("claude-code.messages.log")
  if is_installed then
    log.info("%s", message)
  else
    executable, message = nil, executable
    log.error("installing failed: %s", message)
  end
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(executable, message)
  end
end

--- Installs without blocking Neovim. A call during an installation gets its result.
---@param request claude-code.InstallRequest
---@param callback fun(executable: string?, message: string) in the main loop
function M.start(request, callback)
  table.insert(waiting, callback)
  if #waiting > 1 then
    return
  end
  task.run(function()
    answer(xpcall(run, function(failure)
      return type(failure) == "table" and failure.message or debug.traceback(failure)
    end, request))
  end)
end

--- Installs and waits, for build steps and scripts.
---@return string? executable, string message
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

---@param source? claude-code.BinarySource of the current executable
---@return string remedy how to get an executable of this plugin's version, for a message
function M.remedy(source)
  if source == "system" or (source == "build" and not releases.manifest()) then
    return "upgrade claude-code-nvim with the package manager that installed it"
  elseif source == "path" then
    return "replace that file, or remove binary.path from setup()"
  elseif source == "build" then
    return "run " .. releases.build_command()
  end
  local release, remedy = releases.find()
  return release and "run :Claude install" or remedy --[[@as string]]
end

---@return claude-code.Binary?, string? message with the places and the remedy
---@return claude-code.Release? release that may be downloaded without a command
---@return string? what the message without the remedy
function M.find()
  local options = require("claude-code.config").get().binary
  if options.path then
    local path = require("claude-code.lib.platform").normal(vim.fs.normalize(options.path))
    if programs.runs(path) then
      return { path = path, source = "path" }
    end
    local what = ("binary.path is %s, which is not an executable file"):format(path)
    return nil, ("%s: %s, then :Claude"):format(what, M.remedy("path")), nil, what
  end
  for _, source in ipairs(M.ORDER) do
    local path = finders[source]()
    if path and programs.runs(path) then
      return { path = require("claude-code.lib.platform").normal(path), source = source }
    end
  end
  local release, remedy, reason = releases.find()
  local why = reason and reason .. "; " or ""
  local places = ("(%slooked in %s, %s, $PATH)"):format(why, finders.build(), store.stable())
  local text = "%s was not found: %s, then :Claude %s"
  local missing = text:format(executables.NAME, remedy or "run :Claude install", places)
  -- Without a UI only a command may download 50 MB.
  local may_download = options.download ~= false and #vim.api.nvim_list_uis() > 0
  return nil,
    missing,
    may_download and release or nil,
    executables.NAME .. " was not found " .. places
end

--- Calls back with the executable: at once if it exists or cannot be installed, otherwise after the current
--- installation, or after a download that the options allow.
---@param callback fun(binary: claude-code.Binary?, message: string?)
function M.get(callback)
  local binary, missing, release = M.find()
  if binary then
    if binary.source == "managed" then
      -- Hooks call the stable path, which still leads to the newer version after a downgrade of the plugin.
      local done, failure = pcall(store.set_current, binary.path)
      if not done then
        require("claude-code.messages.log").warn("%s", failure.message)
      end
    end
    return callback(binary)
  end
  local is_ours = not M.is_running()
  if not release and is_ours then
    return callback(nil, missing)
  end
  M.start({ release = release }, function(executable, message)
    if executable and is_ours then
      require("claude-code.messages.notify").info(message)
    end
    callback(executable and { path = executable, source = "managed" }, message)
  end)
end

--- lazy.nvim runs `build = ":Claude install"` in a task, and treats an error as a failed build.
local function is_lazy_task()
  local config = package.loaded["lazy.core.config"]
  return vim.iter(pairs(config and config.plugins or {})):any(function(_, plugin)
    return vim.iter(plugin._ and plugin._.tasks or {}):any(function(entry)
      return entry.name == "build" and entry:running()
    end)
  end)
end

---@return boolean does a plugin manager run :Claude install as a build step, which waits for it and handles errors?
function M.is_build_step()
  local ok, is_running = pcall(is_lazy_task)
  return ok and is_running
end

return M
