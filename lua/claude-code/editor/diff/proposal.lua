--- One proposed change of a file: its texts, its two scratch buffers, and the user's edits; no windows. While it waits,
--- the file may be written or edited in its buffer, and symlinks may change: the diff shows that, a message reports it,
--- and accepting overwrites nothing that the user has not seen.
local api, uv = vim.api, vim.uv
local buffers = require("claude-code.editor.diff.buffers")
local counted = require("claude-code.lib.text").count
local disk = require("claude-code.editor.documents.disk")
local hunk_by_hunk = require("claude-code.editor.diff.hunk_by_hunk")
local hunks = require("claude-code.editor.changes.hunks")
local keys = require("claude-code.editor.diff.keys")
local merging = require("claude-code.editor.documents.merge")
local notify = require("claude-code.messages.notify")
local patch = require("claude-code.editor.documents.patch")
local path = require("claude-code.editor.documents.path")
local text = require("claude-code.editor.diff.text")

local LABELS = { "your unsaved edits", "the file on disk", "Claude's proposal" }
local CONFLICT = "\n<<<<<<< " .. LABELS[1]

---@class claude-code.Proposal
---@field id integer
---@field client integer the executable's client that proposed it
---@field remote? string where that client runs, if not here
---@field old_path string
---@field new_path string the file to be written, as the client named it
---@field file string the same with symlinks resolved when it was proposed
---@field base_path string the old side's file: the one at `new_path`, which accepting replaces; else the one at
--- `old_path`
---@field proposed claude-code.Text
---@field old claude-code.Text the file on disk; one empty line if it is missing
---@field exists boolean the old side's file was there when it was last read
---@field is_written boolean the file on disk has changed since this was proposed
---@field too_big? string why the changed file is not shown
---@field target? integer the file's loaded buffer
---@field unsaved boolean that buffer holds edits that are not on disk
---@field old_buf? integer
---@field new_buf? integer
---@field label? string name of `new_buf`
---@field cursor? vim.fn.winsaveview.ret where the user was in it when it was last on screen
---@field merged? { undo: integer, tick: integer } the last merge: the proposal's change, and the tick of the file's
--- buffer
---@field warned? claude-code.HunkList the user was asked to look at these accepted hunks again
---@field private keep_cr boolean the proposal's lines keep their CR; the old file's must, too, to be put back whole
---@field private signature string of the files on disk as they were last seen
---@field private is_read boolean `old` is the file as it was last seen
---@field private is_confirmed? boolean the user was warned that the file was written, and may accept
---@field private now? { tick: integer, lines: string[] } the lines of `new_buf`
---@field hunk_list? claude-code.HunkList
local Proposal = {}
Proposal.__index = Proposal

local M = {}

local function is_loaded(buf)
  return buf ~= nil and api.nvim_buf_is_loaded(buf)
end

function M.new(params)
  local proposed = text.parse(params.contents)
  local proposal = setmetatable({
    id = params.id,
    client = params.client,
    remote = params.remote,
    old_path = params.old_path,
    new_path = params.new_path,
    file = path.real(params.new_path),
    base_path = params.old_path,
    proposed = proposed,
    keep_cr = not proposed.crlf and params.contents:find("\r\n", 1, true) ~= nil,
    old = text.NOTHING,
    exists = false,
    is_read = false,
    is_written = false,
    unsaved = false,
  }, Proposal)
  proposal:has_changed_on_disk()
  return proposal
end

function Proposal:title()
  return path.title(self.new_path)
end

---@return boolean outside of the workspace's folders, and of the working folder's git repository
function Proposal:is_outside()
  local workspace = require("claude-code.lib.workspace")
  local folders = workspace.folders()
  table.insert(folders, path.real(workspace.root(vim.fn.getcwd(-1, 0))))
  return not path.is_in_any(self.file, folders)
end

---@return boolean even for its owner
function Proposal:is_read_only()
  local is_writable = require("claude-code.lib.regular_file").is_writable
  return uv.fs_stat(self.file) ~= nil and not is_writable(self.file)
end

---@return boolean symlinks no longer lead to the file for which it was proposed
function Proposal:is_moved()
  return path.real(self.new_path) ~= self.file
end

---@return boolean both buffers exist
function Proposal:is_prepared()
  return is_loaded(self.old_buf) and is_loaded(self.new_buf)
end

---@private
---@return boolean the files on disk have changed since the last call
function Proposal:has_changed_on_disk()
  local before = self.signature
  self.signature = disk.version(self.old_path) .. " " .. disk.version(self.new_path)
  return self.signature ~= before
end

---@private
function Proposal:read_old()
  self.base_path = uv.fs_stat(self.new_path) and self.new_path or self.old_path
  local old, problem = text.of_file(self.base_path, self.keep_cr)
  self.too_big = problem
  if problem and self.is_read then
    return
  elseif problem then
    error(("%s is too big now: %s"):format(self:title(), problem), 0)
  end
  self.exists, self.old = old ~= nil, old or text.NOTHING
  self.is_read, self.hunk_list = true, nil
end

---Updates the old side from the disk.
---@return boolean changed
function Proposal:follow_disk()
  if not self:has_changed_on_disk() then
    return false
  elseif self:is_prepared() then
    local before, existed = self.old, self.exists
    self:read_old()
    local is_same = existed == self.exists
      and text.change_of_ends(before, self.old) == nil
      and text.same_lines(before.lines, self.old.lines)
    if is_same and not self.too_big then
      return false
    elseif not is_same then
      buffers.fill(self.old_buf, self.old.lines)
      vim.b[self.old_buf].claude_code_file = self.base_path
    end
  else
    self.is_read = false
  end
  self.is_written, self.is_confirmed = true, false
  return true
end

---@return boolean changed the file's buffer has unsaved edits, or no longer
function Proposal:find_unsaved()
  self.target = path.loaded_buffer(self.new_path)
  local before = self.unsaved
  self.unsaved = self.target ~= nil and vim.bo[self.target].modified
  return self.unsaved ~= before
end

---Reports that the file has unsaved edits, or was written.
---@return boolean reported
function Proposal:report(unsaved, written)
  if unsaved then
    local key = keys.of("merge")[1]
    local way = (key and key .. " or " or "") .. ":Claude diff merge"
    local message = "%s has unsaved edits, which are kept; %s merges them in"
    notify.warn(message:format(self:title(), way), "diff.merge")
  end
  if written then
    local message = "%s was written since Claude proposed this; the diff shows it as it is now"
    notify.warn(message:format(self:title()), "diff.written")
  end
  return unsaved or written
end

---Reads the file and makes both buffers. Called with autocommands off.
function Proposal:prepare()
  self:follow_disk()
  self:find_unsaved()
  if not self.is_read then
    self:read_old()
  end
  if not is_loaded(self.new_buf) then
    self.merged, self.warned = nil, nil
    self.new_buf = buffers.proposed_side(self)
    self.label = api.nvim_buf_get_name(self.new_buf)
    self.now = { tick = api.nvim_buf_get_changedtick(self.new_buf), lines = self.proposed.lines }
  end
  if not is_loaded(self.old_buf) then
    self.old_buf = buffers.old_side(self)
  end
end

---@return integer[] buffers of the old side and the proposal; empty before `prepare`
function Proposal:buffers()
  return { self.old_buf, self.new_buf }
end

---Fills one of its buffers with its first text.
function Proposal:refill(buf)
  buffers.fill(buf, buf == self.new_buf and self.proposed.lines or self.old.lines)
  buffers.colour(buf, self.target)
end

---@return string[] lines of the proposal as it is now, not to be changed
function Proposal:lines()
  local tick = api.nvim_buf_get_changedtick(self.new_buf)
  if self.now.tick ~= tick then
    self.now = { tick = tick, lines = api.nvim_buf_get_lines(self.new_buf, 0, -1, false) }
  end
  return self.now.lines
end

function Proposal:is_edited()
  return is_loaded(self.new_buf) and not text.same_lines(self:lines(), self.proposed.lines)
end

---@return fun(what: string)? keep puts the user's current version into a buffer; nil without edits
function Proposal:keeper()
  if self:is_edited() then
    local title, lines, filetype = self:title(), self:lines(), vim.bo[self.new_buf].filetype
    return function(what)
      buffers.keep(title, lines, filetype, what)
    end
  end
end

---@return claude-code.HunkList of the proposal as it is now
function Proposal:hunks()
  local tick = api.nvim_buf_get_changedtick(self.new_buf)
  if not self.hunk_list or self.hunk_list.tick ~= tick then
    self.hunk_list = hunks.list(self.old.lines, self:lines(), tick)
  end
  return self.hunk_list
end

---@return boolean the proposal has all current unsaved edits
function Proposal:is_merged()
  local merged, target = self.merged, self.target
  if not (merged and is_loaded(target) and api.nvim_buf_get_changedtick(target) == merged.tick) then
    return false
  end
  local tree = api.nvim_buf_call(self.new_buf, vim.fn.undotree)
  -- Undo branches that do not lead to the current text are entries' `alt`.
  return tree.seq_cur >= merged.undo
    and vim.iter(tree.entries):any(function(entry)
      return entry.seq == merged.undo
    end)
end

---@return boolean conflict marks of a merge are left
function Proposal:has_conflicts()
  local lines = self.merged and "\n" .. table.concat(self:lines(), "\n")
  return lines ~= nil and lines:find(CONFLICT, 1, true) ~= nil
end

---Merges the file's unsaved edits into the proposal, with the file on disk as the base; `u` undoes that.
function Proposal:merge()
  local target, buf = self.target, self.new_buf --[[@as integer]]
  if not (is_loaded(target) and vim.bo[target].modified) then
    return notify.info(self:title() .. " has no unsaved edits to merge", "diff.merge")
  elseif self:is_merged() then
    return notify.info("your unsaved edits are merged already", "diff.merge")
  end
  local edits = api.nvim_buf_get_lines(target, 0, -1, false)
  local lines, conflicts = merging.three_way(edits, self.old.lines, self:lines(), LABELS)
  if not lines then
    local message = "%s is too long to be merged: your edits stay in the buffer"
    return notify.warn(message:format(self:title()), "diff.merge")
  end
  patch.break_undo(buf)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  self.merged = {
    undo = api.nvim_buf_call(buf, vim.fn.undotree).seq_cur,
    tick = api.nvim_buf_get_changedtick(target),
  }
  if conflicts == 0 then
    notify.info("the proposal has your edits now; u undoes that", "diff.merge")
  else
    local message = "%s with your unsaved edits: resolve %s, then accept"
    local them = conflicts == 1 and "it" or "them"
    notify.warn(message:format(counted(conflicts, "conflict"), them), "diff.merge")
  end
end

---Prepares the proposal to be accepted as it is now, if possible.
---@param force? boolean a read-only file may be written
---@return claude-code.DiffOutcome? outcome nil: not yet, and a message said why
function Proposal:accept(force)
  if self:is_moved() then
    local message = "nothing was accepted: %s no longer leads to the file for which Claude proposed this (%s "
      .. "now, %s then); restore the symlink, or reject the proposal"
    return notify.error(message:format(self:title(), path.real(self.new_path), self.file))
  elseif not force and self:is_read_only() then
    local message =
      "nothing was accepted, as %s is read-only; :w! or :Claude diff accept! writes it"
    return notify.error(message:format(self:title()))
  end
  self:follow_disk()
  if self.is_written and not self.is_confirmed then
    self.is_confirmed = true
    local message =
      "%s was written since Claude proposed this: review what you would lose, then accept again"
    return notify.warn(message:format(self:title()), "diff.written")
  elseif not self:is_prepared() then
    return "accepted"
  elseif self:has_conflicts() then
    local message = "conflicts are left in the proposal: resolve them or undo the merge"
    return notify.warn(message, "diff.accept")
  elseif hunk_by_hunk.ask_after_edits(self) then
    return nil
  end
  hunk_by_hunk.drop_others(self)
  if self:is_edited() and text.same_lines(self:lines(), self.old.lines) then
    notify.info("rejected: the proposal no longer changes anything")
    return "rejected"
  end
  return "accepted"
end

---@return string text once it was accepted, which drops the hunks that were not chosen
function Proposal:final_text()
  local lines = is_loaded(self.new_buf) and self:lines() or self.proposed.lines
  return text.accepted(lines, self.old, self.proposed)
end

---@return string? words what the proposal changes if it changes no line
function Proposal:change_of_ends()
  local is_same = self.exists and text.same_lines(self.old.lines, self.proposed.lines)
  return is_same and text.change_of_ends(self.old, self.proposed) or nil
end

---Deletes both buffers, with events, so that vim.diagnostic forgets them.
function Proposal:discard()
  buffers.delete(self.old_buf)
  buffers.delete(self.new_buf)
  self.old_buf, self.new_buf, self.hunk_list = nil, nil, nil
end

return M
