--- What happened to the file while its diff waits: it was written, or is being edited in its buffer.
--- The diff follows, the person is told, and nothing they saved is overwritten unawares.
local keys = require("claude-code.editor.diff.keys")
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

local M = {}

---@param session claude-code.Diff
local function tell_unsaved(session)
  local key = keys.of("merge")[1]
  local way = (key and key .. " or " or "") .. ":ClaudeCodeDiffMerge"
  local base = path.base(session.new_path)
  notify.warn(("%s has unsaved edits, which are kept; %s merges them in"):format(base, way))
end

---@param session claude-code.Diff
local function tell_overtaken(session)
  local base = path.base(session.new_path)
  notify.warn(
    ("%s was written since this was proposed; the diff shows it as it is now"):format(base)
  )
end

---Tells each piece of news once.
---@param session claude-code.Diff on screen
---@return boolean told
function M.tell(session)
  local told, any = session.told, false
  if session.unsaved and not told.unsaved then
    told.unsaved, any = true, true
    tell_unsaved(session)
  end
  if session.overtaken and not told.overtaken then
    told.overtaken, any = true, true
    tell_overtaken(session)
  end
  return any
end

---Looks at the file on disk and in its buffer.
---@param session claude-code.Diff
---@return boolean written the old side is another
---@return boolean changed that, or there are unsaved edits now, or no longer
function M.look(session)
  local written, edited = session:catch_up(), session:find_edits()
  return written, written or edited
end

---Accepting would take back what was written since: that takes a second time.
---@param session claude-code.Diff
---@return boolean
function M.may_accept(session)
  session:catch_up()
  if not session.overtaken or session.agreed then
    return true
  end
  session.agreed, session.told.overtaken = true, true
  local text = "%s was written since this was proposed: look what would be lost, then accept again"
  notify.warn(text:format(path.base(session.new_path)))
  return false
end

return M
