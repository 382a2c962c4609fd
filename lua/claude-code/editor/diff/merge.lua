--- The proposal was made from the file on disk. Unsaved edits of that file, in its buffer, are
--- merged into the proposal on demand: three ways, by git, with the file on disk as the base.
local api = vim.api
local hunks = require("claude-code.editor.diff.hunks")
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

local LABELS = { "your unsaved edits", "the file on disk", "Claude's proposal" }
local CONFLICT = "<<<<<<< " .. LABELS[1]

---git answers with the number of conflicts, at most this, or with an error above it.
local MOST_CONFLICTS = 127
local TIMEOUT_MS = 5000

local M = {}

---@class claude-code.Merge
---@field undo integer number of the change of the proposal that merged
---@field tick integer changedtick of the file's buffer
---@field conflicts integer

---@param lines string[]
---@return string file
local function spill(lines)
  local name = vim.fn.tempname()
  local file = assert(io.open(name, "wb"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  return name
end

---@param texts string[][] lines of the edits, the base, the proposal
---@return string[]? lines
---@return integer|string conflicts count, or what went wrong
local function merge_lines(texts)
  if vim.fn.executable("git") == 0 then
    return nil, "a three-way merge needs git, which is not on your $PATH"
  end
  local command = { "git", "merge-file", "-p", "--diff3" }
  for _, label in ipairs(LABELS) do
    vim.list_extend(command, { "-L", label })
  end
  local files = vim.tbl_map(spill, texts)
  local run = vim.system(vim.list_extend(command, files), { timeout = TIMEOUT_MS }):wait()
  vim.tbl_map(os.remove, files)
  if run.code > MOST_CONFLICTS or run.signal ~= 0 then
    local reason = vim.trim(run.stderr or "")
    return nil, "git cannot merge: " .. (reason ~= "" and reason or ("exit code " .. run.code))
  end
  local text = run.stdout:gsub("\n$", "")
  return vim.split(text, "\n", { plain = true }), run.code
end

---@param session claude-code.Diff
---@return string[][] lines of the edits, the base, the proposal as it is now
local function texts_of(session)
  return {
    api.nvim_buf_get_lines(session.target, 0, -1, false),
    session.old.lines,
    api.nvim_buf_get_lines(session.new_buf, 0, -1, false),
  }
end

---@param session claude-code.Diff
---@param lines string[]
---@param conflicts integer
local function put(session, lines, conflicts)
  local buf = session.new_buf
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  session.merge = {
    undo = api.nvim_buf_call(buf, vim.fn.undotree).seq_cur,
    tick = api.nvim_buf_get_changedtick(session.target),
    conflicts = conflicts,
  }
end

---@param entries vim.fn.undotree.entry[]
---@param wanted integer
---@param current integer
---@return boolean is the change `wanted` among those that lead to the state `current`?
local function leads(entries, wanted, current)
  local seen = false
  for _, entry in ipairs(entries) do
    if entry.alt and leads(entry.alt, wanted, current) then
      return true
    elseif entry.alt and seen and leads(entry.alt, current, current) then
      return true
    end
    seen = seen or entry.seq == wanted
    if entry.seq == current then
      return seen
    end
  end
  return false
end

---Does the proposal hold the unsaved edits, all that there are now?
---@param session claude-code.Diff
---@return boolean
function M.is_done(session)
  local merge, buf = session.merge, session.target
  if not merge or not (buf and api.nvim_buf_is_loaded(buf)) then
    return false
  elseif api.nvim_buf_get_changedtick(buf) ~= merge.tick then
    return false
  end
  local tree = api.nvim_buf_call(session.new_buf, vim.fn.undotree)
  return leads(tree.entries, merge.undo, tree.seq_cur)
end

---@param changes claude-code.Hunk[] of the buffer and the proposal
---@param proposal string[]
---@return table<integer, true> gone lines of the buffer that the proposal lacks, by number
---@return table<string, true> added texts of the lines it has beyond the buffer's
local function effects(changes, proposal)
  local gone, added = {}, {}
  for _, change in ipairs(changes) do
    for line = change.old, change.old + change.old_count - 1 do
      gone[line] = true
    end
    for line = change.new, change.new + change.new_count - 1 do
      added[proposal[line]] = true
    end
  end
  return gone, added
end

---@param edit claude-code.Hunk of the base and the buffer
---@param base string[]
---@param gone table<integer, true>
---@param added table<string, true>
---@return boolean is anything that the edit made of these lines taken back?
local function is_undone(edit, base, gone, added)
  for line = edit.new, edit.new + edit.new_count - 1 do
    if gone[line] then
      return true
    end
  end
  -- Lines that it deleted, and nothing else, may be there again.
  local deleted = edit.new_count > 0 and {}
    or vim.list_slice(base, edit.old, edit.old + edit.old_count - 1)
  return vim.iter(deleted):any(function(line)
    return added[line]
  end)
end

---May the buffer take over what is accepted? Not if its edits were dropped again, or edited, as
---hunks of the merge. How conflicts were resolved is the person's decision.
---@param session claude-code.Diff
---@return boolean
function M.holds_edits(session)
  if not M.is_done(session) then
    return false
  elseif session.merge.conflicts > 0 then
    return true
  end
  local mine, base, proposal = unpack(texts_of(session))
  local gone, added = effects(hunks.between(mine, proposal), proposal)
  return not vim.iter(hunks.between(base, mine)):any(function(edit)
    return is_undone(edit, base, gone, added)
  end)
end

---@param session claude-code.Diff
---@return boolean are there marks of conflicts of a merge?
function M.has_conflicts(session)
  if not session.merge then
    return false
  end
  -- A plain loop: of a big file, an iterator takes fifty times as long.
  for _, line in ipairs(api.nvim_buf_get_lines(session.new_buf, 0, -1, false)) do
    if line:sub(1, #CONFLICT) == CONFLICT then
      return true
    end
  end
  return false
end

---Replaces the proposal by its merge with the unsaved edits; `u` undoes that.
---@param session claude-code.Diff
function M.run(session)
  local base, buf = path.base(session.new_path), session.target
  if not (buf and api.nvim_buf_is_loaded(buf) and vim.bo[buf].modified) then
    return notify.info(base .. " has no unsaved edits to merge")
  elseif M.is_done(session) then
    return notify.info("the unsaved edits are merged already")
  end
  local lines, conflicts = merge_lines(texts_of(session))
  if not lines then
    return notify.warn(
      ("%s: your edits stay in the buffer; the diff is without them"):format(conflicts)
    )
  end
  put(session, lines, conflicts --[[@as integer]])
  if conflicts == 0 then
    notify.info("your unsaved edits are in the proposal now; u undoes that")
  else
    local text = "%d conflict%s with your unsaved edits: keep of each what is right, then accept"
    notify.warn(text:format(conflicts, conflicts == 1 and "" or "s"))
  end
end

return M
