--- Installs the executable of this version of the plugin: fetched or from a local archive, verified
--- before anything of it is unpacked or run, in place by a rename. Killed at any moment it leaves
--- the version before, or the new one, and rubbish that the next run sweeps up.
local M = {}

local place = require("claude-code.install.store")
local releases = require("claude-code.install.release")
local task = require("claude-code.install.async")

local POLL_MS = 250
--- A scanner may look at all of it before its first run.
local FIRST_RUN_MS = 30 * 1000
--- Longer than the download and all else together may take.
local WAIT_MS = 60 * 60 * 1000

---@class claude-code.InstallRequest
---@field release? claude-code.Release the one that belongs to this plugin, if it was looked up
---@field archive? string path of an archive that is here already
---@field force? boolean even if it is installed

---@type (fun(path: string?, message: string?))[]
local waiting = {}

--- Runs an executable once, and checks that it is the one wanted.
---@param executable string
---@param release claude-code.Release
---@return boolean? runs
---@return string? message
local function probe(executable, release)
  local version, failure = task.await(function(done)
    require("claude-code.install.version").of(executable, done, FIRST_RUN_MS)
  end)
  if version == release.version then
    return true
  elseif version then
    return nil, ("%s says that it is version %s"):format(release.file, version)
  end
  local advice = release.target:find("musl", 1, true)
      and "install libstdc++ (Alpine: `apk add libstdc++`), then :ClaudeCodeInstall"
    or "build one: " .. require("claude-code.install.plugin_files").build_command()
  local text = "the executable of %s does not run on this machine: %s; %s"
  return nil, text:format(release.file, failure, advice)
end

--- Checks an archive against what this version of the plugin pins.
---@param release claude-code.Release
---@param archive string
---@return boolean? verified
---@return string? message
local function verify(release, archive)
  local stat = vim.uv.fs_stat(archive)
  if not stat then
    return nil, ("there is no archive %s"):format(archive)
  end
  local sum, message = require("claude-code.install.checksum").of(archive)
  if not sum then
    return nil, message
  elseif sum == release.sha256 and stat.size == release.size then
    return true
  end
  local other = releases.target_with(sum)
  if other then
    local text = "%s is for %s, this machine needs %s (%s)"
    return nil, text:format(archive, other, release.target, release.file)
  end
  local text = "%s is not the archive that belongs to version %s of the plugin (%d bytes, SHA-256 %s"
    .. " instead of %d bytes, SHA-256 %s), so nothing of it was used; fetch %s anew"
  local is, should = { stat.size, sum }, { release.size, release.sha256 }
  return nil, text:format(archive, release.version, is[1], is[2], should[1], should[2], release.url)
end

--- Waits while another Neovim installs the same. Returns whether it did.
---@param release claude-code.Release
---@return boolean installed
local function await_others(release)
  local part = require("claude-code.install.partial_file")
  while part.contended(release.file) do
    task.sleep(POLL_MS)
    if vim.uv.fs_stat(place.executable(release.version, release.target)) then
      return true
    end
  end
  return false
end

--- Downloads the archive, unless another Neovim meanwhile installs what is in it.
---@param release claude-code.Release
---@param force boolean
---@return { archive?: string }? found without an archive: it is installed
---@return string? message
local function download(release, force)
  local part = require("claude-code.install.partial_file")
  local path = part.path(release.file)
  local resume_at = part.resumable(release)
  local claimed, refused = part.claim(release.file)
  if not claimed then
    return nil, refused
  end
  if not force and await_others(release) then
    vim.uv.fs_unlink(path)
    return {}
  end
  local progress = require("claude-code.install.progress").new(release.size)
  local done, message =
    require("claude-code.install.download").fetch(release, path, resume_at, progress)
  if not done then
    return nil, message
  end
  local verified, wrong = verify(release, path)
  if not verified then
    vim.uv.fs_unlink(path)
    return nil, wrong
  end
  return { archive = path }
end

--- Unpacks a verified archive and moves its executable to its place.
---@param release claude-code.Release
---@param archive string
---@param replace boolean
---@return string? executable
---@return string? message
local function unpack(release, archive, replace)
  local folder = vim.fs.joinpath(
    place.download(),
    ("%s-%s.%d"):format(release.version, release.target, vim.uv.os_getpid())
  )
  vim.fn.delete(folder, "rf")
  local function install()
    local made, refused = place.make_folder(folder)
    if not made then
      return nil, refused
    end
    local fresh, message =
      require("claude-code.install.unpack").executable(archive, release, folder)
    if not fresh then
      return nil, message
    end
    local runs, why = probe(fresh, release)
    if not runs then
      return nil, why
    end
    return place.put(folder, release, replace)
  end
  local executable, message = install()
  vim.fn.delete(folder, "rf")
  return executable, message
end

--- The archive to unpack: the local one that was asked for, or a download.
---@param release claude-code.Release
---@param request claude-code.InstallRequest
---@return { archive?: string }? found
---@return string? message
local function obtain(release, request)
  local made, refused = place.make_folder(place.download())
  if not made then
    return nil, refused
  elseif not request.archive then
    return download(release, request.force == true)
  end
  local archive = vim.fn.fnamemodify(vim.fs.normalize(request.archive), ":p")
  local verified, message = verify(release, archive)
  return verified and { archive = archive } or nil, message
end

---@param release claude-code.Release
---@param request claude-code.InstallRequest
---@return string? executable
---@return string? message
local function install(release, request)
  local executable = place.executable(release.version, release.target)
  local there = vim.uv.fs_stat(executable) ~= nil
  if there and not request.force and probe(executable, release) then
    return executable
  end
  local found, message = obtain(release, vim.tbl_extend("keep", request, { force = there }))
  if not found then
    return nil, message
  elseif not found.archive then
    return executable
  end
  local result, failure = unpack(release, found.archive, there)
  if result and not request.archive then
    vim.uv.fs_unlink(require("claude-code.install.partial_file").path(release.file))
  end
  return result, failure
end

---@param request claude-code.InstallRequest
---@return string? executable
---@return string? message
local function run(request)
  local release, message
  if request.release then
    release = request.release
  else
    release, message = releases.find()
  end
  if not release then
    return nil, message
  end
  place.sweep()
  local before = place.current()
  local executable, failure = install(release, request)
  if not executable then
    return nil, failure
  end
  local pointed, refused = place.point(executable)
  if not pointed then
    return nil, refused
  end
  place.prune(release, before)
  return executable
end

---@return boolean
function M.is_running()
  return #waiting > 0
end

--- Installs without keeping Neovim waiting. A second call while one runs waits for the same.
---@param request claude-code.InstallRequest
---@param callback fun(executable: string?, message: string?) in the main loop
function M.start(request, callback)
  table.insert(waiting, callback)
  if #waiting > 1 then
    return
  end
  task.run(function()
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
    return nil, "the installation was interrupted; `:ClaudeCodeInstall` begins again"
  end
  return executable, message
end

return M
