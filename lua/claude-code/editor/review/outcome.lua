--- The outcome of a decision: edits of buffers, and conflicts, which are rows that both Claude and the user have
--- changed. An undo skips those, and shows their texts.
local api = vim.api
local documents = require("claude-code.editor.documents")
local file_change = require("claude-code.editor.documents.file_change")
local file_lines = require("claude-code.editor.documents.lines")
local hunk_keys = require("claude-code.editor.changes.keys")
local notify = require("claude-code.messages.notify")
local patch = require("claude-code.editor.documents.patch")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local task = require("claude-code.lib.task")
local text = require("claude-code.editor.review.text")
local windows = require("claude-code.editor.windows")

local TOPIC = "review"

local WORDS = {
  user = { title = "Your edits and Claude's conflict", have = "you have", lines = "your" },
  claude = {
    title = "Claude's later edits conflict",
    have = "Claude has since",
    lines = "the later",
  },
}

---The limit of lines for each text of a conflict.
local MAX_LINES = 12

local M = {}

---@class claude-code.DecidedFile
---@field path string absolute
---@field problem? string why nothing was done
---@field edits? claude-code.ReviewEdit[]
---@field eol? boolean
---@field removed? boolean the file was removed from the disk
---@field conflicts? claude-code.ReviewConflict[]
---@field staged? boolean git's index still has changes by Claude

---@class claude-code.ReviewConflict rows that Claude has changed, and someone else since, as bytes
---@field hunk string
---@field by "user"|"claude" who has since changed them: the user, or Claude outside of the review's scope
---@field base string[] without Claude's change
---@field claude string[] as Claude left them
---@field now string[]

---@class claude-code.Decision
---@field decision? string left out if nothing was decided
---@field changed? true something has changed since the plan: nothing was decided
---@field files claude-code.DecidedFile[]

---@class claude-code.ReviewEdit rows of the text that was sent, bytes without "\n"
---@field first integer from 1; with count 0 the row before which the lines go
---@field count integer
---@field expected string[]
---@field lines string[]

---@param edits claude-code.ReviewEdit[] from the last to the first
---@return string[]? new nil if the text differs, or if an edit is about rows that it cannot have
local function edited(buf, old, edits)
  local lines_of_rows, new, done = text.reader(buf), {}, 0
  for i = #edits, 1, -1 do
    local edit = edits[i]
    -- Another machine may have sent the edits: loops must not trust their numbers.
    if edit.first <= done or edit.first - 1 + edit.count > #old or edit.count ~= #edit.expected then
      return nil
    end
    local expected = lines_of_rows(edit.expected, edit.first)
    vim.list_extend(new, old, done + 1, edit.first - 1)
    done = edit.first - 1 + edit.count
    if not file_lines.are_same(vim.list_slice(old, edit.first, done), expected) then
      return nil
    end
    vim.list_extend(new, lines_of_rows(edit.lines, edit.first))
  end
  return vim.list_extend(new, old, done + 1)
end

local function lines_of(buf)
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  return file_lines.is_empty(buf, lines) and {} or lines
end

---Applies edits as one undo step, and writes the file if the buffer had no unsaved changes. Another Neovim may have
---done so first.
---@param eol boolean whether the last line then has a line end
---@param back? string the undo that it takes back
---@return string? problem a sentence for the user; then the buffer is as it was
local function apply(buf, edits, eol, decision, back)
  local old, tick = lines_of(buf), api.nvim_buf_get_changedtick(buf)
  local new = edited(buf, old, edits)
  local was_clean = not vim.bo[buf].modified
  if was_clean then
    reload.check(buf)
  end
  local now = api.nvim_buf_get_changedtick(buf) == tick and old or lines_of(buf)
  if new and was_clean and now ~= old and file_lines.are_same(now, new) then
    return nil, true
  elseif not new or not file_lines.are_same(now, old) then
    return "its text has changed in the meantime; look at it again"
  elseif not vim.bo[buf].modifiable then
    return "its buffer is not modifiable"
  end
  local whole = #old > 0 and old or { "" }
  patch.apply(buf, file_change.between(whole, #new > 0 and new or { "" }, eol))
  if back and #edits > 0 then
    text.take_back(buf, back)
  elseif decision and not file_lines.are_same(new, old) then
    text.add_undo(buf, decision)
  end
  vim.bo[buf].endofline = eol
  if not eol then
    vim.bo[buf].fixendofline = false
  end
  if not was_clean then
    return nil, false
  end
  local saved, failure = documents.save({ path = api.nvim_buf_get_name(buf) })
  local problem = failure or saved and saved.problem
  if problem then
    notify.warn(("the change is in the buffer: %s"):format(problem))
  end
  return nil, saved ~= nil
end

---@return string? problem a sentence that names the file
---@return boolean? unsaved the change is in the buffer only
local function apply_to_file(file, decision, back)
  local buf = path.loaded_buffer(file.path)
  if file.edits and not buf then
    -- Without 'hidden' it was unloaded after its text was sent.
    buf = vim.fn.bufadd(file.path)
    documents.load_buffer(buf)
  end
  if file.problem or not buf then
    return file.problem
  elseif file.removed then
    if not vim.bo[buf].modified then
      windows.replace_buffer(buf)
      pcall(api.nvim_buf_delete, buf, {})
    end
    return nil
  elseif not file.edits then
    -- The executable has written it.
    return not vim.bo[buf].modified and reload.check(buf) or nil
  end
  local problem, written = apply(buf, file.edits, file.eol ~= false, decision, back)
  if problem then
    return ("%s: %s"):format(path.title(file.path), problem)
  end
  return nil, not written
end

---Applies a decision's edits. Messages name files that were not changed, or are not written yet.
---@param back? string the decision that it takes back
---@return boolean is_done in one of its files at least
function M.run(decision, back)
  local unsaved, staged, is_done = {}, {}, #decision.files == 0
  for _, file in ipairs(decision.files) do
    local problem, is_unsaved = apply_to_file(file, decision.decision, back)
    is_done = is_done or not problem
    if problem then
      notify.warn(problem, TOPIC)
    elseif file.conflicts and #file.conflicts > 0 then
      local hunks, have = #file.conflicts, WORDS[file.conflicts[1].by].have
      local count = hunks == 1 and "1 hunk was" or ("%d hunks were"):format(hunks)
      local words = "%s: %s not undone, because %s edited these lines; :Claude undo! keeps both"
      notify.warn(words:format(path.title(file.path), count, have), TOPIC)
    elseif is_unsaved then
      unsaved[#unsaved + 1] = path.title(file.path)
    end
    if file.staged and not problem then
      staged[#staged + 1] = path.title(file.path, ":.")
    end
  end
  if #staged > 0 then
    local words =
      "git's index still holds Claude's changes of %s: git restore --staged takes them out"
    notify.warn(words:format(table.concat(staged, ", ")), TOPIC)
  end
  if #unsaved > 0 then
    local words =
      "undone in the buffer of %s, which has unsaved changes: write it when you are ready"
    notify.info(words:format(table.concat(unsaved, ", ")), TOPIC)
  end
  return is_done
end

---@return claude-code.ReviewConflict? of an undo that was about one hunk
function M.only_conflict(decision)
  local file = #decision.files == 1 and decision.files[1] or nil
  local conflicts = file and not file.problem and file.conflicts or {}
  return #conflicts == 1 and not decision.decision and conflicts[1] or nil
end

local function add(lines, title, rows)
  lines[#lines + 1] = title
  for i = 1, math.min(#rows, MAX_LINES) do
    -- Strings in Vim script have no NUL.
    local row = rows[i]:gsub("\r$", ""):gsub("%z", "\n")
    lines[#lines + 1] = "    " .. require("claude-code.lib.text").visible(row)
  end
  if #rows > MAX_LINES then
    lines[#lines + 1] = ("    … and %d more lines"):format(#rows - MAX_LINES)
  end
end

local function conflict_lines(conflict, key)
  local lines, words = {}, WORDS[conflict.by]
  add(lines, "Now", conflict.now)
  add(lines, "As Claude wrote it", conflict.claude)
  add(lines, ("Undone, with %s lines"):format(words.lines), conflict.base)
  local nothing = "Nothing was undone here: %s edited these lines."
  vim.list_extend(lines, { "", nothing:format(words.have) })
  local how = key and "%s undoes it and keeps %s lines, q leaves it."
    or "Edit them, or use %s to undo the file and keep %s lines."
  lines[#lines + 1] = how:format(key or ":Claude undo!", words.lines)
  return lines
end

---Shows the texts of a conflict, and waits until the user has closed them. Runs in a task.
---@return boolean is_wanted undo it anyway, and keep the user's lines
function M.confirm(conflict)
  return task.await(function(done)
    local lhs = hunk_keys.of(require("claude-code.config").get().review.keys.undo)
    local lines, is_wanted = conflict_lines(conflict, lhs[1]), false
    local buf, close = require("claude-code.messages.float").open(WORDS[conflict.by].title, lines)
    for _, key in ipairs(lhs) do
      vim.keymap.set("n", key, function()
        is_wanted = true
        close()
      end, { buffer = buf, nowait = true, desc = "Undo, and keep your lines" })
    end
    local function on_closed()
      done(is_wanted)
    end
    api.nvim_create_autocmd("BufWipeout", { buffer = buf, callback = vim.schedule_wrap(on_closed) })
  end)
end

return M
