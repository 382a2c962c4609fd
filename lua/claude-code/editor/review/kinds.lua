--- What became of a file as a whole, in words.
local fn = vim.fn

local M = {}

local WORDS = {
  created = "new file",
  deleted = "deleted",
  binary = "binary file",
  mode = "mode changed",
  symlink = "symlink",
  unseen = "changed",
  changed = "changed",
}

---Is the file decided as a whole, whatever its hunks are?
---@param file claude-code.ReviewFile
---@return boolean
function M.is_whole(file)
  return file.kind ~= "changed" or file.hunk_count == 0
end

---@param mode claude-code.ReviewMode
---@return string
function M.mode_words(mode)
  return ("mode %o, was %o"):format(mode.after, mode.before)
end

---@param file claude-code.ReviewFile
---@return string
function M.words(file)
  local words = WORDS[file.kind]
  if file.kind == "renamed" then
    words = "renamed from " .. fn.fnamemodify(file.from or "?", ":.")
  elseif file.kind == "created" and file.hunk_count == 0 then
    words = "new empty file"
  elseif file.kind == "changed" then
    words = ("changed, %d hunks"):format(file.hunk_count)
  end
  if file.mode and file.kind == "mode" then
    words = M.mode_words(file.mode)
  elseif file.mode and file.kind ~= "created" and file.kind ~= "deleted" then
    words = words .. ", " .. M.mode_words(file.mode)
  end
  local reason = file.cannot_undo
  return reason and ("%s, cannot be undone here (it %s)"):format(words, reason) or words
end

return M
