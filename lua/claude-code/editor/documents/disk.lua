--- Files on the disk: which version of a file is there, and when it may be another one.
--- Folders are watched, since a file itself would be lost when another one is renamed over it.
local uv = vim.uv
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")

---Each takes a kernel watch, of which a user has some thousands (Linux), or a file descriptor (macOS).
local MAX_FOLDERS = 200
---How long after a folder is gone another one in its place is watched, in ms.
local RETRY_MS = 300

local M = {}

---@class claude-code.DiskFollower
---@field name string
---@field version string as the file was last looked at, where no event reports a change
---@field report fun() calls back soon, on the main loop; also from a fast context

---@class claude-code.WatchedFolder
---@field handle? uv.uv_fs_event_t nil if the folder cannot be watched (network, limits, not there)
---@field followers table<string, table<claude-code.DiskFollower, true>> by the file's last part

---@class claude-code.WatchedDisk
---@field folders table<string, claude-code.WatchedFolder>
---@field count integer folders that have a handle
---@field cancel_retry fun()
local disk = { folders = {}, count = 0, cancel_retry = function() end }

---@param name string
---@return string version changes with the file, also where its time does not (`cp -p`); "" if there is none
function M.version(name)
  local stat = uv.fs_stat(name)
  local changed = stat and ("%d:%d.%d "):format(stat.ino, stat.ctime.sec, stat.ctime.nsec) or ""
  return changed .. M.written_version(name)
end

---@param name string
---@return string version changes with a file that is written; as `fileVersion` of the executable; "" if there is none
function M.written_version(name)
  local stat = uv.fs_stat(name)
  return stat and table.concat({ stat.mtime.sec, stat.mtime.nsec, stat.size }, ":") or ""
end

---Has the file changed since it was last looked at? Then its follower is called.
local function look(follower)
  local version = M.version(follower.name)
  if version ~= follower.version then
    follower.version = version
    follower.report()
  end
end

---@param watched claude-code.WatchedFolder
local function unwatch(watched)
  if watched.handle then
    watched.handle:close()
    watched.handle = nil
    disk.count = disk.count - 1
  end
end

---@param name? string nil: the platform does not say it
local function on_event(folder, name)
  local watched = disk.folders[folder]
  if not watched then
    return
  end
  -- The folder itself was moved or deleted: its handle follows what is no longer there.
  local is_folder = name and not watched.followers[name] and folder:match("[^/]*$") == name
  if is_folder then
    unwatch(watched)
    disk.cancel_retry()
    disk.cancel_retry = timer.once(RETRY_MS, M.look)
  end
  for base, followers in pairs(watched.followers) do
    if is_folder or not name or base == name then
      for follower in pairs(followers) do
        follower.report()
      end
    end
  end
end

---@param watched claude-code.WatchedFolder
local function watch(folder, watched)
  local handle = not watched.handle and disk.count < MAX_FOLDERS and uv.new_fs_event()
  if not handle then
    return
  end
  local ok = handle:start(folder, {}, function(_, name)
    on_event(folder, name)
  end)
  if ok ~= 0 then
    handle:close()
    return
  end
  watched.handle = handle
  disk.count = disk.count + 1
end

---@param file string absolute
local function add(file, follower)
  local folder, base = vim.fs.dirname(file), vim.fs.basename(file)
  local watched = disk.folders[folder] or { followers = {} }
  disk.folders[folder] = watched
  watched.followers[base] = watched.followers[base] or {}
  watched.followers[base][follower] = true
  watch(folder, watched)
end

---@param file string absolute
local function remove(file, follower)
  local folder, base = vim.fs.dirname(file), vim.fs.basename(file)
  local watched = disk.folders[folder]
  watched.followers[base][follower] = nil
  if next(watched.followers[base]) == nil then
    watched.followers[base] = nil
  end
  if next(watched.followers) == nil then
    unwatch(watched)
    disk.folders[folder] = nil
  end
  if next(disk.folders) == nil then
    disk.cancel_retry()
  end
end

---Calls back, on the main loop, whenever the file may have been written, made or removed, whoever does it.
---Several changes in one round of the event loop are one call. What happens to a file whose folder cannot be
---watched is noticed by `look`.
---@param name string absolute
---@param callback fun()
---@return fun(): boolean? stop true if a change was noticed, for which it has not called back
function M.follow(name, callback)
  name = path.normal(name)
  local names, is_due, is_over = { [name] = true, [path.real(name)] = true }, false, false
  local function call()
    is_due = false
    if not is_over then
      callback()
    end
  end
  local follower = { name = name, version = M.version(name) }
  function follower.report()
    if not is_due then
      is_due = true
      vim.schedule(call)
    end
  end
  for file in pairs(names) do
    add(file, follower)
  end
  return function()
    if is_over then
      return
    end
    is_over = true
    for file in pairs(names) do
      remove(file, follower)
    end
    return is_due
  end
end

---Looks at the followed files whose folders cannot be watched or are gone, and tries again to watch them. For moments
---that exist anyway.
function M.look()
  for folder, watched in pairs(disk.folders) do
    if not watched.handle then
      for _, followers in pairs(watched.followers) do
        vim.iter(vim.tbl_keys(followers)):each(look)
      end
      watch(folder, watched)
    end
  end
end

return M
