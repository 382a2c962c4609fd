--- The entries of a review's quickfix list: one for each hunk, one for each file that was created, deleted,
--- renamed, or has no text, one for a changed mode beside hunks.
local fn = vim.fn
local files = require("claude-code.editor.review.files")
local kinds = require("claude-code.editor.review.kinds")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")

---Characters of a prompt in an entry: at most, and of the columns that there are.
local MOST_PROMPT_CHARACTERS, PROMPT_SHARE = 40, 0.25

local QUEUED = "[undone when Claude's turn ends]"

local M = {}

local names ---@type table<string, string>? of sessions, by their ids; nil unless several run

---@class claude-code.ReviewEntry user_data of a quickfix entry
---@field path string
---@field hunk? string id; "mode": the file's mode; nil: the whole file

---@param owners claude-code.ReviewOwner[]
---@return string
local function origin(owners)
  local last = owners[#owners]
  if not last then
    return ""
  end
  local words = { names and (names[last.session] or last.session:sub(1, 8)) }
  if last.turn then
    words[#words + 1] = ("turn %d"):format(last.turn)
  end
  if last.prompt and last.prompt ~= "" then
    local prompt = fn.strtrans((last.prompt:gsub("%s+", " ")))
    local most = math.min(MOST_PROMPT_CHARACTERS, math.floor(vim.o.columns * PROMPT_SHARE))
    local cut = fn.strcharpart(prompt, 0, most)
    words[#words + 1] = ("‹%s%s›"):format(cut, cut ~= prompt and "…" or "")
  end
  words[#words + 1] = last.agent and (last.tool .. " of a subagent") or last.tool
  return table.concat(words, "  ")
end

---@param hunk claude-code.ReviewHunk
---@param is_stale boolean
---@return string
local function flags(hunk, is_stale)
  local found = {}
  if is_stale then
    found[#found + 1] = "[not in your buffer, which has unsaved edits]"
  end
  if hunk.conflict then
    found[#found + 1] = "[your edits conflict]"
  elseif hunk.mixed then
    found[#found + 1] = "[with your edits]"
  end
  if hunk.queued then
    found[#found + 1] = QUEUED
  end
  return #found > 0 and table.concat(found, " ") .. "  " or ""
end

---@param file claude-code.ReviewFile
---@param hunk claude-code.ReviewHunk
---@param is_stale boolean the buffer lacks it
---@return table item
local function hunk_item(file, hunk, is_stale)
  local last = math.max(hunk.new[1], hunk.new[1] + hunk.new[2] - 1, 1)
  return {
    filename = file.path,
    lnum = math.max(hunk.new[1], 1),
    end_lnum = last > hunk.new[1] and last or nil,
    text = ("+%d -%d  %s%s"):format(
      hunk.added,
      hunk.removed,
      flags(hunk, is_stale),
      origin(hunk.owners)
    ),
    user_data = { claude_code = { path = file.path, hunk = hunk.id } },
  }
end

---A deleted file's text is read in a buffer of its own.
---@param file claude-code.ReviewFile
---@return string
local function name_of(file)
  local scheme = require("claude-code.editor.review.base").SCHEME
  return file.kind == "deleted" and scheme .. file.path or file.path
end

---@param words string
---@param is_queued boolean
---@param owners claude-code.ReviewOwner[]
---@return string
local function file_text(words, is_queued, owners)
  return ("%s  %s%s"):format(words, is_queued and QUEUED .. "  " or "", origin(owners))
end

---@param file claude-code.ReviewFile
---@param mode claude-code.ReviewMode
---@return table item
local function mode_item(file, mode)
  return {
    filename = file.path,
    lnum = 1,
    text = file_text(kinds.mode_words(mode), mode.queued, mode.owners),
    user_data = { claude_code = { path = file.path, hunk = "mode" } },
  }
end

---@param file claude-code.ReviewFile
---@return table item
local function file_item(file)
  return {
    filename = name_of(file),
    lnum = file.hunks[1] and math.max(file.hunks[1].new[1], 1) or 1,
    module = file.kind == "deleted" and fn.fnamemodify(file.path, ":.") or nil,
    text = file_text(kinds.words(file), file.queued, file.owners),
    user_data = { claude_code = { path = file.path } },
  }
end

---@param session_names table<string, string>? by their ids; nil unless several run
---@return table[]
function M.all(session_names)
  local found = {}
  names = session_names
  for _, file in ipairs(files.all()) do
    if kinds.is_whole(file) or #file.hunks < file.hunk_count then
      found[#found + 1] = file_item(file)
    else
      found[#found + 1] = file.mode and mode_item(file, file.mode)
      local buf = path.loaded_buffer(file.path)
      local is_stale = buf ~= nil and reload.is_stale(buf)
      for _, hunk in ipairs(file.hunks) do
        found[#found + 1] = hunk_item(file, hunk, is_stale)
      end
    end
  end
  return found
end

---@param one claude-code.ReviewEntry
---@param other claude-code.ReviewEntry?
---@return boolean
function M.is_same_entry(one, other)
  return other ~= nil and one.path == other.path and one.hunk == other.hunk
end

---@param one table[]
---@param other table[]
---@return boolean
function M.are_same(one, other)
  for i = 1, math.max(#one, #other) do
    local item, before = one[i], other[i]
    local is_same_item = item
      and before
      and item.filename == before.filename
      and item.lnum == before.lnum
      and item.end_lnum == before.end_lnum
      and item.text == before.text
      and M.is_same_entry(item.user_data.claude_code, before.user_data.claude_code)
    if not is_same_item then
      return false
    end
  end
  return true
end

return M
