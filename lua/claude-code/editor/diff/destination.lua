--- The file that accepting a proposal writes. It is found when Claude proposes the change, and again when the user
--- accepts it: symlinks may have changed in between. What is written to it, or edited in its buffer, while the diff
--- waits, is in the diff; a message says so, and what the user saved is not overwritten unawares.
local disk = require("claude-code.editor.documents.disk")
local keys = require("claude-code.editor.diff.keys")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local uv = vim.uv

---@class claude-code.Destination
---@field path string absolute, all symlinks resolved
---@field written boolean the file on disk is another than the one the change was proposed for
---@field private given string as the client named it
---@field private old_path string
---@field private signature string of the files on disk, as they were last looked at
---@field private confirmed? boolean the user was warned on accepting, and may accept again
local Destination = {}
Destination.__index = Destination

local M = {}

---@param given string absolute
---@param old_path string
---@return claude-code.Destination
function M.new(given, old_path)
  local fields = { given = given, path = path.real(given), old_path = old_path, written = false }
  local destination = setmetatable(fields, Destination)
  destination:poll()
  return destination
end

---Is it in none of the workspace's folders, nor in the working folder's git repository? Plugins make a part of that
---the working folder.
---@return boolean
function Destination:is_outside()
  local workspace = require("claude-code.lib.workspace")
  local folders = workspace.folders()
  table.insert(folders, uv.fs_realpath(workspace.root(vim.fn.getcwd(-1, 0))))
  return not path.is_in_any(self.path, vim.tbl_map(path.normal, folders))
end

---@return boolean may not even its owner write it?
function Destination:is_read_only()
  local is_writable = require("claude-code.lib.regular_file").is_writable
  return uv.fs_stat(self.path) ~= nil and not is_writable(self.path)
end

---Do symlinks lead to another file by now?
---@return boolean
function Destination:has_changed()
  return path.real(self.given) ~= self.path
end

---@param force boolean the user said that a read-only file may be written
---@return string? message why it must not be written
function Destination:refusal(force)
  local title, now = path.title(self.given), path.real(self.given)
  if now ~= self.path then
    local text = "nothing was accepted: %s leads to another file than when Claude proposed this (%s "
      .. "now, %s then); restore the symlink, or reject the proposal"
    return text:format(title, now, self.path)
  elseif not force and self:is_read_only() then
    local text = "nothing was accepted, as %s is read-only; :w! or :Claude diff accept! writes it"
    return text:format(title)
  end
end

---@return boolean changed one of the files was written since the last call
function Destination:poll()
  local before = self.signature
  self.signature = disk.version(self.old_path) .. " " .. disk.version(self.given)
  return self.signature ~= before
end

---The file on disk is not the proposal's any more.
function Destination:set_written()
  self.written, self.confirmed = true, false
end

---Accepting would overwrite a newer file: that takes a second time.
---@return boolean may_accept
function Destination:confirm()
  if not self.written or self.confirmed then
    return true
  end
  self.confirmed = true
  local text =
    "%s was written since Claude proposed this: review what you would lose, then accept again"
  notify.warn(text:format(path.title(self.given)), "diff.written")
  return false
end

---@param unsaved boolean the file's buffer has unsaved edits
---@param written boolean the file was written
---@return boolean reported
function Destination:report(unsaved, written)
  local title = path.title(self.given)
  if unsaved then
    local key = keys.of("merge")[1]
    local way = (key and key .. " or " or "") .. ":Claude diff merge"
    local text = "%s has unsaved edits, which are kept; %s merges them in"
    notify.warn(text:format(title, way), "diff.merge")
  end
  if written then
    local text = "%s was written since Claude proposed this; the diff shows it as it is now"
    notify.warn(text:format(title), "diff.written")
  end
  return unsaved or written
end

return M
