--- Which changes are shown, those of the open review or else all that wait for one, and how they are named.
local path = require("claude-code.editor.documents.path")

---@class claude-code.ReviewScope
---@field scope "turn"|"session"|"all"|"unreviewed"
---@field session? string
---@field paths? string[]

local TITLES = {
  unreviewed = "Claude's changes",
  turn = "Claude's changes of its last turn",
  session = "Claude's changes of this session",
  all = "All changes of Claude's",
}

---@type claude-code.ReviewScope
local UNREVIEWED = { scope = "unreviewed" }

local M = {}

local active ---@type claude-code.ReviewScope?

---@return claude-code.ReviewScope? of the review that is open
function M.active()
  return active
end

---@param scope claude-code.ReviewScope? nil: the review has ended
function M.set_active(scope)
  active = scope
end

---@return claude-code.ReviewScope of the review, or else all that waits for one
function M.current()
  return active or UNREVIEWED
end

---@param scope claude-code.ReviewScope
---@param names? table<string, string> of sessions, by their ids
---@return string
function M.title(scope, names)
  local name = names and names[scope.session]
  return TITLES[scope.scope] .. (name and (": " .. name) or "")
end

---@param scope claude-code.ReviewScope in which there is nothing
---@return string
function M.nothing_in(scope)
  local missing = vim.iter(scope.paths or {}):find(function(name)
    return not vim.uv.fs_lstat(name)
  end)
  if missing then
    return ("there is no file, and no session, of the name %s"):format(path.title(missing))
  end
  local where = scope.paths and " in " .. table.concat(vim.tbl_map(path.title, scope.paths), ", ")
  local when = scope.scope == "turn" and " in its last turn"
    or scope.scope == "session" and " in this session"
    or ""
  return ("Claude changed nothing%s%s that you have not reviewed"):format(where or "", when)
end

---@param scope claude-code.ReviewScope of which nothing is left
---@return string
function M.all_reviewed(scope)
  local is_all = scope.scope == "unreviewed" and not scope.paths
  return ("all of %s changes are reviewed"):format(is_all and "Claude's" or "these")
end

return M
