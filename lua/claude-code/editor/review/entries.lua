--- The entries of a review's quickfix list: one for each hunk, one for each file that was created, deleted,
--- renamed, or has no text, one for a changed mode beside hunks.
local fn = vim.fn
local buffers = require("claude-code.editor.review.buffer")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local visible = require("claude-code.lib.text").visible

---Characters of a prompt in an entry: at most, and of the columns that there are.
local MAX_PROMPT_CHARACTERS, PROMPT_SHARE = 40, 0.25

---Characters of code in an entry.
local MAX_CODE_CHARACTERS = 60

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

---@class claude-code.ReviewEntry user_data of a quickfix entry
---@field path string
---@field hunk? string id; "mode": the file's mode; nil: the whole file

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
  local reason = file.cannot_undo
  return reason and ("%s, cannot be undone here (it %s)"):format(words, reason) or words
end

---@param bytes string
---@return string in one line, of at most so many characters
local function shortened(bytes, most)
  local text = visible((vim.trim(bytes):gsub("%s+", " ")))
  local cut = fn.strcharpart(text, 0, most)
  return cut ~= text and cut .. "…" or cut
end

---@param names? table<string, string> of sessions, by their ids; nil unless several run
---@param above? claude-code.ReviewOwner of the entry above, which shows the prompt
---@return string[] words about the last one
local function origin(owners, names, above)
  local last = owners[#owners]
  if not last then
    return {}
  end
  local words = { names and (names[last.session] or last.session:sub(1, 8)) }
  if last.turn then
    words[#words + 1] = ("turn %d"):format(last.turn)
  end
  local is_shown = above and above.session == last.session and above.prompt == last.prompt
  if last.prompt and last.prompt ~= "" and not is_shown then
    local most = math.min(MAX_PROMPT_CHARACTERS, math.floor(vim.o.columns * PROMPT_SHARE))
    words[#words + 1] = ("‹%s›"):format(shortened(last.prompt, most))
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

---@class claude-code.ListedChange
---@field code? string the first changed line
---@field hunk? string as of an entry
---@field rows? [integer, integer] first row and count
---@field words string
---@field flags? string
---@field owners claude-code.ReviewOwner[]

---@return claude-code.ListedChange[]
local function changes_of(file)
  if M.is_whole(file) or #file.hunks < file.hunk_count then
    local row = file.hunks[1] and file.hunks[1].new[1]
    return { { rows = row and { row, 1 }, words = M.words(file), owners = file.owners } }
  end
  local found, mode, buf = {}, file.mode, path.loaded_buffer(file.path)
  if mode then
    found[1] = { hunk = "mode", words = M.mode_words(mode), owners = mode.owners }
  end
  local is_stale = buf ~= nil and reload.is_stale(buf)
  for _, hunk in ipairs(file.hunks) do
    found[#found + 1] = {
      hunk = hunk.id,
      rows = hunk.new,
      words = ("+%d -%d"):format(hunk.added, hunk.removed),
      code = shortened(hunk.code or "", MAX_CODE_CHARACTERS),
      flags = flags(hunk, is_stale),
      owners = hunk.owners,
    }
  end
  return found
end

---@param change claude-code.ListedChange
local function item(file, change, names, above)
  local first, count = unpack(change.rows or { 1, 1 })
  local words = { change.words }
  words[#words + 1] = change.code ~= "" and change.code or nil
  words[#words + 1] = change.flags
  local name, short = buffers.shown_name(file), fn.fnamemodify(file.path, ":.")
  local shown = visible(short)
  return {
    filename = name,
    module = (name ~= file.path or shown ~= short) and shown or nil,
    lnum = math.max(first, 1),
    end_lnum = count > 1 and first + count - 1 or nil,
    text = table.concat(vim.list_extend(words, origin(change.owners, names, above)), "  "),
    user_data = { claude_code = { path = file.path, hunk = change.hunk } },
  }
end

---@param files claude-code.ReviewFile[]
---@param names? table<string, string> of sessions, by their ids; nil unless several run
---@return table[] items for setqflist()
function M.all(files, names)
  local items, above = {}, nil
  for _, file in ipairs(files) do
    for _, change in ipairs(changes_of(file)) do
      items[#items + 1] = item(file, change, names, above)
      above = change.owners[#change.owners]
    end
  end
  return items
end

return M
