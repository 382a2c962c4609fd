--- The proposal was made from the file on disk. Unsaved edits of that file, in its buffer, are
--- merged into the proposal on demand: three ways, by git, with the file on disk as the base.
local api = vim.api
local counted = require("claude-code.lib.text").count
local hunks = require("claude-code.editor.hunks")
local notify = require("claude-code.messages.notify")
local programs = require("claude-code.programs")
local patch = require("claude-code.editor.documents.patch")

local LABELS = { "your unsaved edits", "the file on disk", "Claude's proposal" }
local CONFLICT = "<<<<<<< " .. LABELS[1]

---git answers with the number of conflicts, at most this, or with an error above it.
local MOST_CONFLICTS = 127
local TIMEOUT_MS = 5000

---@class claude-code.Merge the last merge of a proposal with unsaved edits
---@field private proposal claude-code.Proposal
---@field private undo integer number of the change of the proposal that merged
---@field private tick integer that of the file's buffer
---@field private conflicts integer how many there were
local Merge = {}
Merge.__index = Merge

local M = {}

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
  local git, missing = programs.on_path("git")
  if not git then
    return nil, "a three-way merge needs git: " .. missing
  end
  local command = { git, "merge-file", "-p", "--diff3" }
  for _, label in ipairs(LABELS) do
    vim.list_extend(command, { "-L", label })
  end
  local files = vim.tbl_map(spill, texts)
  -- Not in the project, whose settings git would read.
  local options = { cwd = programs.NEUTRAL_FOLDER, timeout = TIMEOUT_MS }
  local run = vim.system(vim.list_extend(command, files), options):wait()
  vim.tbl_map(os.remove, files)
  if run.code > MOST_CONFLICTS or run.signal ~= 0 then
    local reason = vim.trim(run.stderr or "")
    return nil, "git cannot merge: " .. (reason ~= "" and reason or ("exit code " .. run.code))
  end
  local text = run.stdout:gsub("\n$", "")
  return vim.split(text, "\n", { plain = true }), run.code
end

---@return string[][] lines of the edits, the base, the proposal as it is now
local function texts_of(proposal)
  local edited = api.nvim_buf_get_lines(proposal.target, 0, -1, false)
  return { edited, proposal.old.lines, proposal:lines() }
end

---Does the proposal hold the unsaved edits, all that there are now?
---@return boolean
function Merge:is_done()
  local buf = self.proposal.target
  if
    not (buf and api.nvim_buf_is_loaded(buf)) or api.nvim_buf_get_changedtick(buf) ~= self.tick
  then
    return false
  end
  local tree = api.nvim_buf_call(self.proposal.new_buf, vim.fn.undotree)
  -- They lead to the present state, and on from there; other branches are their `alt`.
  return tree.seq_cur >= self.undo
    and vim.iter(tree.entries):any(function(entry)
      return entry.seq == self.undo
    end)
end

---@param changes claude-code.Hunk[] of the buffer and the proposal
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
---hunks of the merge. How conflicts were resolved is the user's decision.
---@return boolean
function Merge:holds_edits()
  if not self:is_done() then
    return false
  elseif self.conflicts > 0 then
    return true
  end
  local edited, base, proposed = unpack(texts_of(self.proposal))
  local gone, added = effects(hunks.between(edited, proposed), proposed)
  return not vim.iter(hunks.between(base, edited)):any(function(edit)
    return is_undone(edit, base, gone, added)
  end)
end

---@return boolean are there marks of conflicts of a merge?
function Merge:has_conflicts()
  local text = "\n" .. table.concat(self.proposal:lines(), "\n")
  return text:find("\n" .. CONFLICT, 1, true) ~= nil
end

---Replaces the proposal by its merge with the unsaved edits; `u` undoes that.
---@param proposal claude-code.Proposal
function M.run(proposal)
  local target, buf = proposal.target, proposal.new_buf --[[@as integer]]
  if not (target and api.nvim_buf_is_loaded(target) and vim.bo[target].modified) then
    return notify.info(proposal:title() .. " has no unsaved edits to merge", "diff.merge")
  elseif proposal.merge and proposal.merge:is_done() then
    return notify.info("your unsaved edits are merged already", "diff.merge")
  end
  local lines, conflicts = merge_lines(texts_of(proposal))
  if not lines then
    return notify.warn(
      ("%s: your edits stay in the buffer, the proposal is unchanged"):format(conflicts),
      "diff.merge"
    )
  end
  patch.break_undo(buf)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  proposal.merge = setmetatable({
    proposal = proposal,
    undo = api.nvim_buf_call(buf, vim.fn.undotree).seq_cur,
    tick = api.nvim_buf_get_changedtick(target),
    conflicts = conflicts,
  }, Merge)
  if conflicts == 0 then
    notify.info("the proposal has your edits now; u undoes that", "diff.merge")
  else
    local text = "%s with your unsaved edits: resolve %s, then accept"
    local them = conflicts == 1 and "it" or "them"
    notify.warn(text:format(counted(conflicts, "conflict"), them), "diff.merge")
  end
end

return M
