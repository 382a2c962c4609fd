--- Versions of files, and watches on their folders. A watch on the file itself would be lost when another file is
--- renamed over it.
local uv = vim.uv
local path = require("claude-code.editor.documents.path")
local timer = require("claude-code.lib.timer")

---Each folder takes one of the user's few thousand kernel watches (Linux), or a file descriptor (macOS).
local MAX_FOLDERS = 200
---The delay before we watch a folder that has replaced another one.
local RETRY_MS = 300

local M = {}

---@class claude-code.DiskFollower
---@field name string
---@field folder string
---@field base string
---@field version string of the file at the last look, for folders without a watch
---@field report fun() calls back soon, on the main loop; allowed in a fast context

---@class claude-code.WatchedFolder
---@field handle? uv.uv_fs_event_t nil if the folder cannot be watched (network, limits, missing)
---@field followers table<claude-code.DiskFollower, true>

local folders = {} ---@type table<string, claude-code.WatchedFolder>
local handles = 0 -- open ones
local cancel_retry = function() end

---@return string version also changes if a program keeps the old time (`cp -p`); "" if the file is missing
function M.version(name)
  local stat = uv.fs_stat(name)
  local changed = stat and ("%d:%d.%d "):format(stat.ino, stat.ctime.sec, stat.ctime.nsec) or ""
  return changed .. M.written_version(name)
end

---@return string version as the executable's `fileVersion` returns it; "" if the file is missing
function M.written_version(name)
  local stat = uv.fs_stat(name)
  return stat and table.concat({ stat.mtime.sec, stat.mtime.nsec, stat.size }, ":") or ""
end

local function unwatch(watched)
  if watched.handle then
    watched.handle:close()
    watched.handle, handles = nil, handles - 1
  end
end

---@param name? string nil: the platform does not report it
local function on_event(folder, name)
  local watched = folders[folder]
  if not watched then
    return
  end
  -- An event with the folder's own name: it was moved or deleted, and its handle reports nothing useful any more.
  local is_folder = name and folder:match("[^/]*$") == name
  for follower in pairs(watched.followers) do
    is_folder = is_folder and follower.base ~= name
  end
  if is_folder then
    unwatch(watched)
    cancel_retry()
    cancel_retry = timer.once(RETRY_MS, M.look)
  end
  for follower in pairs(watched.followers) do
    if is_folder or not name or follower.base == name then
      follower.report()
    end
  end
end

local function watch(folder, watched)
  local handle = not watched.handle and handles < MAX_FOLDERS and uv.new_fs_event()
  if not handle then
    return
  end
  local ok = handle:start(folder, {}, function(_, name)
    on_event(folder, name)
  end)
  if ok == 0 then
    watched.handle, handles = handle, handles + 1
  else
    handle:close()
  end
end

---Calls back, on the main loop, when the file may have been written, created or removed; once for all changes in one
---round of the event loop. If the folder cannot be watched, only `look` notices changes.
---@param name string absolute
---@return fun(): boolean? stop returns true if a callback was about to come
function M.follow(name, callback)
  name = path.normal(name)
  local names, is_due, is_over = { [name] = true, [path.real(name)] = true }, false, false
  local function call()
    is_due = false
    if not is_over then
      callback()
    end
  end
  local function report()
    if not is_due then
      is_due = true
      vim.schedule(call)
    end
  end
  local followers = {} ---@type claude-code.DiskFollower[]
  for file in pairs(names) do
    local folder, base = vim.fs.dirname(file), vim.fs.basename(file)
    local follower = { name = name, folder = folder, base = base, report = report }
    follower.version = M.version(name)
    folders[folder] = folders[folder] or { followers = {} }
    folders[folder].followers[follower] = true
    watch(folder, folders[folder])
    table.insert(followers, follower)
  end
  return function()
    if is_over then
      return
    end
    is_over = true
    for _, follower in ipairs(followers) do
      local watched = folders[follower.folder]
      watched.followers[follower] = nil
      if next(watched.followers) == nil then
        unwatch(watched)
        folders[follower.folder] = nil
      end
    end
    if next(folders) == nil then
      cancel_retry()
    end
    return is_due
  end
end

---Checks followed files whose folders are not watched, and tries again to watch those folders.
function M.look()
  for folder, watched in pairs(folders) do
    for follower in pairs(watched.handle and {} or watched.followers) do
      local version = M.version(follower.name)
      if version ~= follower.version then
        follower.version = version
        follower.report()
      end
    end
    watch(folder, watched)
  end
end

return M
