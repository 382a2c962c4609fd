--- One proposed change of a file: its data, its two scratch buffers, and what it has become by the
--- user's edits. It knows nothing of windows.
local api = vim.api
local accepted = require("claude-code.editor.diff.accepted")
local buffers = require("claude-code.editor.diff.buffers")
local destinations = require("claude-code.editor.diff.destination")
local hunks = require("claude-code.editor.changes.hunks")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local text = require("claude-code.editor.diff.text")

---@class claude-code.Proposal
---@field id integer
---@field client integer which of the executable's clients proposed it
---@field remote? string where that client runs, if not here; by the user's options
---@field old_path string
---@field new_path string the file that is to be written
---@field destination claude-code.Destination where that is, and what happens to it
---@field base_path string the old side's file: the one at `new_path`, as accepting replaces that; if
--- there is none, the one at `old_path`
---@field proposed claude-code.Text
---@field old claude-code.Text the file on disk; one empty line if there is none
---@field exists boolean the old side's file was there when it was last read
---@field target? integer buffer of the file, if one is loaded
---@field unsaved boolean that buffer holds edits that are not on disk
---@field old_buf? integer
---@field new_buf? integer
---@field label? string name of `new_buf`
---@field cursor? vim.fn.winsaveview.ret where the user was in it when it was last on screen
---@field merge? claude-code.Merge the last one
---@field warned? claude-code.HunkList of which the user was asked to look at the accepted hunks again
---@field private keep_cr boolean the proposal's lines keep their CR, so the old file's must do so, or
--- lines of it that are put back would lose theirs
---@field too_big? string why the file on disk is not shown as it is by now
---@field private is_read boolean `old` is the file as it was last looked at
---@field private now? { tick: integer, lines: string[] } the lines of `new_buf`
---@field hunk_list? claude-code.HunkList
local Proposal = {}
Proposal.__index = Proposal

local M = {}

local function is_loaded(buf)
  return buf ~= nil and api.nvim_buf_is_loaded(buf)
end

---@param params claude-code.DiffParams
---@return claude-code.Proposal
function M.new(params)
  local proposed = text.parse(params.contents)
  return setmetatable({
    id = params.id,
    client = params.client,
    remote = params.remote,
    old_path = params.old_path,
    new_path = params.new_path,
    destination = destinations.new(params.new_path, params.old_path),
    base_path = params.old_path,
    proposed = proposed,
    keep_cr = not proposed.crlf and params.contents:find("\r\n", 1, true) ~= nil,
    old = text.NOTHING,
    exists = false,
    is_read = false,
    unsaved = false,
  }, Proposal)
end

function Proposal:title()
  return path.title(self.new_path)
end

---Are the buffers there, because the diff was looked at before?
---@return boolean
function Proposal:is_prepared()
  return is_loaded(self.old_buf) and is_loaded(self.new_buf)
end

---@private
function Proposal:read_old()
  self.base_path = vim.uv.fs_stat(self.new_path) and self.new_path or self.old_path
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

---Looks for what was written to disk since the change was proposed, or last looked at, and brings
---the old side up to date.
---@return boolean changed
function Proposal:follow_disk()
  if not self.destination:poll() then
    return false
  elseif self:is_prepared() then
    local before, existed = self.old, self.exists
    self:read_old()
    local same = existed == self.exists and text.is_same(before, self.old)
    if same and not self.too_big then
      return false
    elseif not same then
      buffers.fill(self.old_buf, self.old.lines)
      vim.b[self.old_buf].claude_code_file = self.base_path
    end
  else
    self.is_read = false
  end
  self.destination:set_written()
  return true
end

---Looks for the file's buffer, and for unsaved edits in it.
---@return boolean changed
function Proposal:find_unsaved()
  self.target = path.loaded_buffer(self.new_path)
  local before = self.unsaved
  self.unsaved = self.target ~= nil and vim.bo[self.target].modified
  return self.unsaved ~= before
end

---Reads the file, makes both buffers, and compares them. Called with autocommands off.
function Proposal:prepare()
  self:follow_disk()
  self:find_unsaved()
  if not self.is_read then
    self:read_old()
  end
  if not is_loaded(self.new_buf) then
    self.merge, self.warned = nil, nil
    self.new_buf = buffers.proposed_side(self)
    self.label = api.nvim_buf_get_name(self.new_buf)
    self.now = { tick = api.nvim_buf_get_changedtick(self.new_buf), lines = self.proposed.lines }
  end
  if not is_loaded(self.old_buf) then
    self.old_buf = buffers.old_side(self)
  end
end

---@return integer[] buffers the old side's and the proposal's; none before `prepare`
function Proposal:buffers()
  return { self.old_buf, self.new_buf }
end

---Fills one of its buffers again, as it was at first.
---@param buf integer
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

---@return boolean
function Proposal:is_edited()
  return is_loaded(self.new_buf) and not text.same_lines(self:lines(), self.proposed.lines)
end

---The user's version as it is now, for the case that nobody receives it.
---@return fun(what: string)? keep puts it into a buffer; nil without edits
function Proposal:keeper()
  if self:is_edited() then
    local title, lines, filetype = self:title(), self:lines(), vim.bo[self.new_buf].filetype
    return function(what)
      buffers.keep(title, lines, filetype, what)
    end
  end
end

---The hunks of the proposal as it is now; computed again only after an edit.
---@return claude-code.HunkList
function Proposal:hunks()
  local tick = api.nvim_buf_get_changedtick(self.new_buf)
  if not self.hunk_list or self.hunk_list.tick ~= tick then
    self.hunk_list = hunks.list(self.old.lines, self:lines(), tick)
  end
  return self.hunk_list
end

---Does accepting make a file, which may be compared with another one?
---@return boolean
function Proposal:is_new_file()
  return not self.exists or self.base_path ~= self.new_path
end

---Gets the proposal ready to be accepted as it is now, if that can be.
---@param force? boolean even if the file is read-only
---@return claude-code.DiffOutcome? outcome what accepting it comes to; nil: not yet, and a message said why
function Proposal:accept(force)
  local refusal = self.destination:refusal(force == true)
  if refusal then
    notify.error(refusal)
    return nil
  end
  self:follow_disk()
  if not self.destination:confirm() then
    return nil
  elseif not self:is_prepared() then
    return "accepted"
  elseif self.merge and self.merge:has_conflicts() then
    notify.warn("conflicts are left in the proposal: resolve them or undo the merge", "diff.accept")
    return nil
  elseif accepted.ask_after_edits(self) then
    return nil
  end
  accepted.drop_others(self)
  if self:is_edited() and text.same_lines(self:lines(), self.old.lines) then
    notify.info("rejected: the proposal changes nothing any more")
    return "rejected"
  end
  return "accepted"
end

---@return string text once it was accepted: then the hunks that were not chosen are gone
function Proposal:final_text()
  local lines = is_loaded(self.new_buf) and self:lines() or self.proposed.lines
  return text.accepted(lines, self.old, self.proposed)
end

---@return string? words what the proposal changes if it changes no line
function Proposal:change_of_ends()
  local same = self.exists and text.same_lines(self.old.lines, self.proposed.lines)
  return same and text.change_of_ends(self.old, self.proposed) or nil
end

---Deletes both buffers, with their events: others who keep something by buffer (vim.diagnostic does,
---for the statusline) forget it.
function Proposal:discard()
  buffers.delete(self.old_buf)
  buffers.delete(self.new_buf)
  self.old_buf, self.new_buf, self.hunk_list = nil, nil, nil
end

return M
