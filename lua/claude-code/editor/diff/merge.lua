--- The proposal was made from the file on disk. Unsaved edits of that file, in its buffer, are
--- merged into the proposal on demand: three ways, with the file on disk as the base.
local api = vim.api
local counted = require("claude-code.lib.text").count
local merge = require("claude-code.editor.documents.merge")
local notify = require("claude-code.messages.notify")
local patch = require("claude-code.editor.documents.patch")

local LABELS = { "your unsaved edits", "the file on disk", "Claude's proposal" }
local CONFLICT = "<<<<<<< " .. LABELS[1]

---@class claude-code.Merge the last merge of a proposal with unsaved edits
---@field private proposal claude-code.Proposal
---@field private undo integer number of the change of the proposal that merged
---@field private tick integer that of the file's buffer
local Merge = {}
Merge.__index = Merge

local M = {}

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
  local edits, base = api.nvim_buf_get_lines(target, 0, -1, false), proposal.old.lines
  local lines, conflicts = merge.three_way(edits, base, proposal:lines(), LABELS)
  if not lines then
    local text = "%s is too long to be merged: your edits stay in the buffer"
    return notify.warn(text:format(proposal:title()), "diff.merge")
  end
  patch.break_undo(buf)
  api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  proposal.merge = setmetatable({
    proposal = proposal,
    undo = api.nvim_buf_call(buf, vim.fn.undotree).seq_cur,
    tick = api.nvim_buf_get_changedtick(target),
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
