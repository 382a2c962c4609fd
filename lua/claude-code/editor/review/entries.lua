--- The entries of a review's list: which changes of a file share an entry, and the text of each entry.
local fn = vim.fn
local buffers = require("claude-code.editor.review.buffer")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local visible = require("claude-code.lib.text").visible

---The limits of code and prompt in an entry, in characters, and the prompt's share of the columns.
local MAX_CODE_CHARACTERS, MAX_PROMPT_CHARACTERS, PROMPT_SHARE = 60, 40, 0.25

local WORDS = {
  created = "new file",
  deleted = "deleted",
  mode = "mode changed",
  unseen = "changed",
  changed = "changed",
}

local M = {
  --- Whose edits conflict with a hunk.
  WHOSE = { user = "your", claude = "Claude's later" },
}

---@return boolean is it decided as a whole, whatever hunks it has?
function M.is_whole(file)
  return file.kind ~= "changed" or file.hunk_count == 0
end

---@param mode claude-code.ReviewMode
---@return string
function M.mode_words(mode)
  return ("mode %o, was %o"):format(mode.after, mode.before)
end

---@return string
function M.words(file)
  local words, reason = WORDS[file.kind], file.cannot_undo
  if file.kind == "renamed" then
    words = "renamed from " .. path.title(file.from or "?", ":.")
  elseif file.binary then
    words = (words and words .. ", " or "") .. buffers.binary_words(file)
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
  return reason and ("%s, cannot be undone here (it %s)"):format(words, reason) or words
end

---@return string one line of at most `most` characters
local function shortened(bytes, most)
  local text = visible((vim.trim(bytes):gsub("%s+", " ")))
  local cut = fn.strcharpart(text, 0, most)
  return cut ~= text and cut .. "…" or cut
end

local function quoted(prompt)
  local most = math.min(MAX_PROMPT_CHARACTERS, math.floor(vim.o.columns * PROMPT_SHARE))
  return ("‹%s›"):format(shortened(prompt, most))
end

---@return string "turn 2 ‹rename it›"
function M.turn_words(turn, prompt)
  return ("turn %d"):format(turn) .. (prompt and " " .. quoted(prompt) or "")
end

---@param id? string of a hunk, or "mode"
---@return claude-code.ReviewOwner? of its last change, or else of the file's
function M.owner_of(file, id)
  local hunk = vim.iter(file.hunks):find(function(one)
    return one.id == id
  end)
  local owners = (hunk or id == "mode" and file.mode or file).owners
  return owners[#owners]
end

---@param names? table<string, string> of sessions, by their ids; nil unless several run
---@param above? claude-code.ReviewOwner of the entry above, which shows the prompt
---@return string[] words about the last owner
function M.origin(owners, names, above)
  local last = owners[#owners]
  if not last then
    return {}
  end
  local words = { names and (names[last.session] or last.session:sub(1, 8)) }
  words[#words + 1] = last.turn and M.turn_words(last.turn)
  local is_shown = above and above.session == last.session and above.prompt == last.prompt
  if last.prompt and last.prompt ~= "" and not is_shown then
    words[#words + 1] = quoted(last.prompt)
  end
  words[#words + 1] = last.agent and (last.tool .. " of a subagent") or last.tool
  return words
end

---@param is_stale boolean the buffer lacks it
local function flags(hunk, is_stale)
  local found = { is_stale and "[not in your buffer, which has unsaved edits]" or nil }
  found[#found + 1] = hunk.ends and ("[%s]"):format(hunk.ends) or nil
  if hunk.conflict then
    found[#found + 1] = ("[%s edits conflict]"):format(M.WHOSE[hunk.conflict])
  elseif hunk.mixed then
    found[#found + 1] = "[with your edits]"
  end
  return #found > 0 and table.concat(found, " ") or nil
end

---@return boolean does its buffer lack the hunks?
function M.is_stale(file)
  local buf = path.loaded_buffer(file.path)
  return buf ~= nil and reload.is_stale(buf)
end

---@class claude-code.ListedChange
---@field words string[]
---@field owners claude-code.ReviewOwner[]
---@field rows? [integer, integer] first row and count
---@field hunk? string as in an entry

---@return claude-code.ListedChange[]
function M.changes_of(file)
  if M.is_whole(file) or #file.hunks < file.hunk_count then
    local row = file.hunks[1] and file.hunks[1].new[1]
    return { { rows = row and { row, 1 }, words = { M.words(file) }, owners = file.owners } }
  end
  local found, mode = {}, file.mode
  if mode then
    found[1] = { hunk = "mode", words = { M.mode_words(mode) }, owners = mode.owners }
  end
  local is_stale = M.is_stale(file)
  for _, hunk in ipairs(file.hunks) do
    local words = { ("+%d -%d"):format(hunk.added, hunk.removed) }
    local code = shortened(hunk.code or "", MAX_CODE_CHARACTERS)
    words[#words + 1] = code ~= "" and code or nil
    words[#words + 1] = flags(hunk, is_stale)
    found[#found + 1] = { hunk = hunk.id, rows = hunk.new, words = words, owners = hunk.owners }
  end
  return found
end

return M
