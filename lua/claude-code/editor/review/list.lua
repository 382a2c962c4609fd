--- The quickfix list of a review: an entry for each hunk, one for each file that was created, deleted,
--- renamed, or has no text, one for a changed mode beside hunks.
local fn = vim.fn
local files = require("claude-code.editor.review.files")
local kinds = require("claude-code.editor.review.kinds")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")

local M = {}

---Characters of a prompt in an entry: at most, and of the columns that there are.
local MOST_PROMPT_CHARACTERS, PROMPT_SHARE = 40, 0.25

local TITLES = {
  unreviewed = "Claude's changes",
  turn = "Claude's changes of its last turn",
  session = "Claude's changes of this session",
  all = "All changes of Claude's",
}

local QUEUED = "[undone when Claude's turn ends]"

local list_id ---@type integer?
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

---@param file claude-code.ReviewFile
---@param hunk claude-code.ReviewHunk
---@return string
local function flags(file, hunk)
  local found = {}
  local buf = path.loaded_buffer(file.path)
  if buf and reload.is_stale(buf) then
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
---@return table item
local function hunk_item(file, hunk)
  local last = math.max(hunk.new[1], hunk.new[1] + hunk.new[2] - 1, 1)
  return {
    filename = file.path,
    lnum = math.max(hunk.new[1], 1),
    end_lnum = last > hunk.new[1] and last or nil,
    text = ("+%d -%d  %s%s"):format(
      hunk.added,
      hunk.removed,
      flags(file, hunk),
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

---@return table[]
local function items()
  local found = {}
  names = require("claude-code.terminal.label").by_conversation()
  for _, file in ipairs(files.all()) do
    if kinds.is_whole(file) or #file.hunks < file.hunk_count then
      found[#found + 1] = file_item(file)
    else
      found[#found + 1] = file.mode and mode_item(file, file.mode)
      for _, hunk in ipairs(file.hunks) do
        found[#found + 1] = hunk_item(file, hunk)
      end
    end
  end
  return found
end

---@return boolean
local function exists()
  return list_id ~= nil and fn.getqflist({ id = list_id, nr = 0 }).id == list_id
end

---@return boolean is it the list that the quickfix window shows?
function M.is_current()
  return list_id ~= nil and fn.getqflist({ id = 0 }).id == list_id
end

---@return boolean is the current window the quickfix window, and shows this list?
function M.has_cursor()
  return vim.bo.buftype == "quickfix" and M.is_current()
end

---@param one claude-code.ReviewEntry
---@param other claude-code.ReviewEntry?
---@return boolean
local function is_same(one, other)
  return other ~= nil and one.path == other.path and one.hunk == other.hunk
end

---Runs `fill`, and leaves the quickfix window's cursor at its entry, or at the row where it was: the
---next key must not decide about another one.
---@param found table[] the new items
---@param fill fun()
local function keep_cursor(found, fill)
  local win = M.is_current() and fn.getqflist({ winid = 0 }).winid or 0
  if win == 0 then
    return fill()
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(win))
  local entry = M.entries(row, row)[1]
  fill()
  for i, item in ipairs(found) do
    if is_same(item.user_data.claude_code, entry) then
      row = i
      break
    end
  end
  vim.api.nvim_win_set_cursor(win, { math.max(math.min(row, #found), 1), column })
end

---@param scope claude-code.ReviewScope
---@return string
local function title_of(scope)
  local name = names and names[scope.session]
  return TITLES[scope.scope] .. (name and (": " .. name) or "")
end

---Fills the list; makes it if it is not there. The user's other lists stay behind it (|:colder|).
---@param scope claude-code.ReviewScope
---@return integer count of entries
function M.fill(scope)
  local found = items()
  local title = title_of(scope)
  if exists() then
    local index = fn.getqflist({ id = list_id, idx = 0 }).idx
    local what = { id = list_id, items = found, title = title }
    what.idx = #found > 0 and math.min(math.max(index, 1), #found) or nil
    keep_cursor(found, function()
      fn.setqflist({}, "r", what)
    end)
  else
    fn.setqflist({}, " ", { items = found, title = title })
    list_id = fn.getqflist({ id = 0 }).id
  end
  return #found
end

---Makes ours the current list again, if another one was made or chosen since.
function M.show()
  local number = list_id and fn.getqflist({ id = list_id, nr = 0 }).nr or 0
  local now = fn.getqflist({ nr = 0 }).nr
  if number > 0 and number ~= now then
    vim.cmd(("silent %d%s"):format(math.abs(number - now), number < now and "colder" or "cnewer"))
  end
end

---Closes the quickfix window if it shows this list.
function M.close()
  if M.is_current() then
    pcall(vim.cmd.cclose)
  end
end

---Makes the entry of a hunk, or the first one of its file, the current one, where |:cnext| goes on from.
---@param name string absolute
---@param hunk? string id
function M.select(name, hunk)
  if not exists() then
    return
  end
  local index
  for i, entry in ipairs(M.entries(1, math.huge)) do
    if entry.path == name and (not index or entry.hunk == hunk) then
      index = i
    end
  end
  if index then
    fn.setqflist({}, "a", { id = list_id, idx = index })
  end
end

---Entries of the list, as :ClaudeCodeKeep and :ClaudeCodeUndo take them.
---@param first integer
---@param last integer
---@return claude-code.ReviewEntry[] without those that something else has added (|:grepadd|)
function M.entries(first, last)
  local found = {}
  local all = fn.getqflist({ id = list_id, items = 0 }).items or {}
  for index = first, math.min(last, #all) do
    local data = all[index].user_data
    found[#found + 1] = type(data) == "table" and data.claude_code or nil
  end
  return found
end

return M
