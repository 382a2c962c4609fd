--- Gets a big proposal ready to be shown, a step at a time, so that Neovim answers keys in between.
local colours = require("claude-code.editor.diff.colours")
local hidden = require("claude-code.editor.diff.hidden")
local hunks = require("claude-code.editor.hunks")
local layouts = require("claude-code.editor.diff.layout")
local slices = require("claude-code.lib.slices")
local timer = require("claude-code.lib.timer")

local M = {}

---@param diff claude-code.Diff
---@return boolean
function M.is_needed(diff)
  return diff.proposal.is_big and not diff.proposal:is_prepared()
end

---@param proposal claude-code.Proposal with both buffers
---@param pause fun(always?: boolean)
local function compare(proposal, pause)
  local old = proposal.old.lines
  local tick = vim.api.nvim_buf_get_changedtick(proposal.new_buf)
  local found = hunks.list_in_thread(old, proposal:lines(), tick, pause)
  -- In the meantime the diff may have ended, and the file may have been written to.
  if proposal:is_prepared() and proposal.old.lines == old then
    proposal.hunk_list = found
  end
end

---@param diff claude-code.Diff
---@param pause fun(always?: boolean)
local function prepare(diff, pause)
  local proposal = diff.proposal
  local ok, is_ready = pcall(proposal.read, proposal, pause)
  pause(true)
  while ok and not (is_ready or diff.outcome) do
    if proposal:is_prepared() then
      pcall(compare, proposal, pause)
    end
    -- It may have ended in the meantime: its buffers would be made again.
    if not diff.outcome then
      ok, is_ready = pcall(layouts.prepare, proposal)
      pause(true)
    end
  end
  if ok and not diff.outcome then
    hidden.show(proposal.new_buf, proposal:hunks(), pause)
    pause(true)
  end
  for _, buf in ipairs(diff.outcome and {} or proposal:buffers()) do
    colours.add(buf, proposal.target)
    pause(true)
  end
end

---@param diff claude-code.Diff
---@param done fun() called unless the diff has ended; also where a step failed, as showing it does then
function M.start(diff, done)
  if diff.is_preparing then
    return
  end
  diff.is_preparing = true
  timer.once(0, function()
    slices.run(function(pause)
      pause(true)
      prepare(diff, pause)
      diff.is_preparing = nil
      if not diff.outcome then
        done()
      end
      slices.collect_garbage()
    end)
  end)
end

return M
