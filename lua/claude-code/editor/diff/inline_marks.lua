--- Colours and virtual lines that make a diff of one buffer.
local api = vim.api
local draw = require("claude-code.editor.hunks.draw")
local hunks = require("claude-code.editor.hunks")
local reveal = require("claude-code.editor.hunks.reveal")
local slices = require("claude-code.lib.slices")

local NAMESPACE = api.nvim_create_namespace("claude-code.diff.inline")

---@class claude-code.InlineMarks
---@field private proposal claude-code.Proposal
---@field private drawn? claude-code.HunkList what is shown
---@field private margin? string in front of the deleted lines
---@field private stop? fun() ends the drawing
local InlineMarks = {}
InlineMarks.__index = InlineMarks

local M = {}

---@param proposal claude-code.Proposal
---@return claude-code.InlineMarks
function M.new(proposal)
  return setmetatable({ proposal = proposal }, InlineMarks)
end

---@param proposal claude-code.Proposal
---@param hunk claude-code.Hunk
---@return claude-code.DrawnHunk
local function drawn(proposal, hunk)
  local lines = hunk.old_count > 0
      and vim.list_slice(proposal.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
    or {}
  return { new = hunk.new, new_count = hunk.new_count, old_lines = lines }
end

---Draws all again if it was edited, or if the columns in front of its lines have changed; of many hunks
---the first ones at once, the others soon.
---@param win integer
function InlineMarks:show(win)
  local proposal, now, margin = self.proposal, self.proposal:hunks(), draw.margin(win)
  if self.drawn == now and self.margin == margin[1] then
    return
  end
  self.drawn, self.margin = now, margin[1]
  local buf = proposal.new_buf --[[@as integer]]
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  if self.stop then
    self.stop()
  end
  self.stop = slices.run(function(pause)
    for _, hunk in ipairs(now.list) do
      local part = drawn(proposal, hunk)
      -- These first: the window is scrolled to the first of them.
      draw.old_lines(buf, NAMESPACE, part, margin)
      draw.new_lines(buf, NAMESPACE, part, pause)
      pause()
    end
  end, function()
    -- Else it is gone, or will be drawn again.
    return api.nvim_buf_is_loaded(buf) and api.nvim_buf_get_changedtick(buf) == now.tick
  end)
end

---@return integer line of the first change, 1 if there is none
function InlineMarks:first_line()
  local first = self.proposal:hunks().list[1]
  local count = api.nvim_buf_line_count(self.proposal.new_buf)
  return first and math.min(hunks.span(first, "new"), count) or 1
end

---@param win integer
---@param hunk? claude-code.Hunk whose first line has the cursor
function InlineMarks:reveal(win, hunk)
  if hunk then
    reveal.hunk(win, drawn(self.proposal, hunk))
  end
  reveal.old_lines_on_top(win, NAMESPACE)
end

return M
