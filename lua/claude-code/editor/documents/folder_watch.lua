--- Watches the folders of files. A file itself would be lost when another one is renamed over it.
local uv = vim.uv

---Each takes a kernel watch, of which a user has some thousands (Linux), or a file descriptor (macOS).
local MOST_FOLDERS = 200

---@class claude-code.WatchedFolder
---@field handle? uv.uv_fs_event_t nil if the folder cannot be watched (network, limits, not there)
---@field buffers table<string, table<integer, true>> by the file's last part

---@class claude-code.FolderWatch
---@field private folders table<string, claude-code.WatchedFolder>
---@field private files table<integer, string[]> by buffer
---@field private count integer folders that are watched
---@field private on_change fun(buf: integer)
---@field private on_lost fun()
local FolderWatch = {}
FolderWatch.__index = FolderWatch

local M = {}

---Both callbacks run in a fast context (|api-fast|).
---@param on_change fun(buf: integer) its file may have changed
---@param on_lost fun() a folder was moved or deleted: another one may come in its place
---@return claude-code.FolderWatch
function M.new(on_change, on_lost)
  local watch = { folders = {}, files = {}, count = 0, on_change = on_change, on_lost = on_lost }
  return setmetatable(watch, FolderWatch)
end

---@private
---@param folder string
function FolderWatch:unwatch(folder)
  local watched = self.folders[folder]
  if watched and watched.handle then
    watched.handle:close()
    watched.handle = nil
    self.count = self.count - 1
  end
end

---@private
---@param folder string
---@param name? string nil: the platform does not say it
function FolderWatch:on_event(folder, name)
  local watched = self.folders[folder]
  if not watched then
    return
  end
  -- The folder itself was moved or deleted: its handle follows what is no longer there.
  local is_folder = name and not watched.buffers[name] and folder:match("[^/]*$") == name
  if is_folder then
    self:unwatch(folder)
    self.on_lost()
  end
  for base, buffers in pairs(watched.buffers) do
    if is_folder or not name or base == name then
      for buf in pairs(buffers) do
        self.on_change(buf)
      end
    end
  end
end

---@private
---@param folder string
function FolderWatch:watch(folder)
  local watched = self.folders[folder]
  local handle = not watched.handle and self.count < MOST_FOLDERS and uv.new_fs_event()
  if not handle then
    return
  end
  local ok = handle:start(folder, {}, function(_, name)
    self:on_event(folder, name)
  end)
  if ok ~= 0 then
    handle:close()
    return
  end
  watched.handle = handle
  self.count = self.count + 1
end

---@param file string absolute
---@return string folder
---@return string base
local function parts(file)
  local folder, base = file:match("^(.*)/([^/]*)$")
  return folder == "" and "/" or folder, base
end

---@private
---@param file string absolute
---@param buf integer that shows it
function FolderWatch:add(file, buf)
  local folder, base = parts(file)
  local watched = self.folders[folder] or { buffers = {} }
  self.folders[folder] = watched
  watched.buffers[base] = watched.buffers[base] or {}
  watched.buffers[base][buf] = true
  self.files[buf] = vim.list_extend(self.files[buf] or {}, { file })
  self:watch(folder)
end

---@param buf integer
function FolderWatch:remove(buf)
  for _, file in ipairs(self.files[buf] or {}) do
    local folder, base = parts(file)
    local watched = self.folders[folder]
    watched.buffers[base][buf] = nil
    if next(watched.buffers[base]) == nil then
      watched.buffers[base] = nil
    end
    if next(watched.buffers) == nil then
      self:unwatch(folder)
      self.folders[folder] = nil
    end
  end
  self.files[buf] = nil
end

---From now on a buffer stands for these files. If it does already, their folders stay watched without a
---gap: an event that is on its way would be lost with its handle, such as the second write of two
---while the first one is read.
---@param buf integer
---@param files string[] absolute
function FolderWatch:set(buf, files)
  if vim.deep_equal(self.files[buf], files) then
    return
  end
  self:remove(buf)
  for _, file in ipairs(files) do
    self:add(file, buf)
  end
end

---Tries again to watch what is not watched.
---@return integer[] buffers whose files were not watched before
function FolderWatch:retry()
  local unwatched = {}
  for folder, watched in pairs(self.folders) do
    if not watched.handle then
      for _, buffers in pairs(watched.buffers) do
        vim.list_extend(unwatched, vim.tbl_keys(buffers))
      end
      self:watch(folder)
    end
  end
  return unwatched
end

function FolderWatch:close()
  for folder in pairs(self.folders) do
    self:unwatch(folder)
  end
  self.folders, self.files = {}, {}
end

return M
