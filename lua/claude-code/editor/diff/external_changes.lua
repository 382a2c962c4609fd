--- What happens to the file while its diff waits: it is written, or edited in its buffer. The diff
--- follows, a message says so, and what the user saved is not overwritten unawares.
local disk = require("claude-code.editor.documents.disk")
local keys = require("claude-code.editor.diff.keys")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")

---@class claude-code.ExternalChanges
---@field written boolean the file on disk is another than the one the change was proposed for
---@field private old_path string
---@field private new_path string
---@field private signature string of the files on disk, as they were last looked at
---@field private confirmed boolean the user was warned on accepting, and may accept again
---@field private reported { unsaved?: boolean, written?: boolean }
local ExternalChanges = {}
ExternalChanges.__index = ExternalChanges

local M = {}

---@param old_path string
---@param new_path string
---@return claude-code.ExternalChanges
function M.new(old_path, new_path)
  local changes = {
    old_path = old_path,
    new_path = new_path,
    written = false,
    confirmed = false,
    reported = {},
  }
  setmetatable(changes, ExternalChanges):poll()
  return changes
end

---@return boolean changed one of the files was written since the last call
function ExternalChanges:poll()
  local before = self.signature
  self.signature = disk.version(self.old_path) .. " " .. disk.version(self.new_path)
  return self.signature ~= before
end

---The file on disk is not the proposal's any more.
function ExternalChanges:set_written()
  self.written, self.confirmed, self.reported.written = true, false, false
end

---Accepting would overwrite a newer file: that takes a second time.
---@return boolean may_accept
function ExternalChanges:confirm()
  if not self.written or self.confirmed then
    return true
  end
  self.confirmed, self.reported.written = true, true
  notify.warn(
    ("%s was written since Claude proposed this: review what you would lose, then accept again"):format(
      path.title(self.new_path)
    ),
    "diff.written"
  )
  return false
end

---@param title string
local function report_unsaved(title)
  local key = keys.of("merge")[1]
  local way = (key and key .. " or " or "") .. ":Claude diff merge"
  notify.warn(
    ("%s has unsaved edits, which are kept; %s merges them in"):format(title, way),
    "diff.merge"
  )
end

---Reports each piece of news once.
---@param unsaved boolean the file's buffer has unsaved edits
---@return boolean reported
function ExternalChanges:report(unsaved)
  local reported, any = self.reported, false
  local title = path.title(self.new_path)
  if unsaved and not reported.unsaved then
    reported.unsaved, any = true, true
    report_unsaved(title)
  end
  if self.written and not reported.written then
    reported.written, any = true, true
    local text = "%s was written since Claude proposed this; the diff shows it as it is now"
    notify.warn(text:format(title), "diff.written")
  end
  return any
end

return M
