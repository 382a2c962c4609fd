--- Colours and virtual lines that make a diff of one buffer.
local api, fn = vim.api, vim.fn
local changed_part = require("claude-code.editor.diff.inline.changed_part")
local deleted = require("claude-code.editor.diff.inline.deleted")
local highlights = require("claude-code.editor.diff.highlights")
local hunks = require("claude-code.editor.diff.hunks")

local NAMESPACE = api.nvim_create_namespace("claude-code.diff.inline")

---Below tree-sitter's (100): its foreground goes on our background.
local LINE_PRIORITY, TEXT_PRIORITY = 50, 60

---Above those of other plugins, which know nothing of the proposal.
local SIGN_PRIORITY = 100

---Lines of one hunk that have a sign each.
local MOST_SIGNS = 2000

local CAN_SCROLL = fn.has("nvim-0.11") == 1

---@class claude-code.InlineMarks
---@field private proposal claude-code.Proposal
---@field private drawn? claude-code.HunkList what is shown
---@field private margin? string in front of the deleted lines
local InlineMarks = {}
InlineMarks.__index = InlineMarks

local M = {}

---@param proposal claude-code.Proposal
---@return claude-code.InlineMarks
function M.new(proposal)
  return setmetatable({ proposal = proposal }, InlineMarks)
end

---@param buf integer
---@param row integer 0-based
---@param old string
local function mark_text(buf, row, old)
  local new = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  local first, last = changed_part.of(new, old)
  if first then
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, first, {
      end_col = last,
      hl_group = highlights.name("Text"),
      priority = TEXT_PRIORITY,
    })
  end
end

---@param buf integer
---@param first integer 0-based row
---@param count integer
local function mark_signs(buf, first, count)
  for row = first, first + math.min(count, MOST_SIGNS) - 1 do
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
      sign_text = "+",
      sign_hl_group = highlights.name("Added"),
      priority = SIGN_PRIORITY,
      strict = false,
    })
  end
end

---@param proposal claude-code.Proposal
---@param hunk claude-code.Hunk
local function mark_new(proposal, hunk)
  local row, buf = hunk.new - 1, proposal.new_buf --[[@as integer]]
  api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
    end_row = row + hunk.new_count,
    end_col = 0,
    hl_group = highlights.name(hunk.old_count > 0 and "Change" or "Add"),
    hl_eol = true,
    priority = LINE_PRIORITY,
    strict = false,
  })
  mark_signs(buf, row, hunk.new_count)
  for i = 0, math.min(hunk.old_count, hunk.new_count, deleted.LONGEST_HUNK) - 1 do
    mark_text(buf, row + i, proposal.old.lines[hunk.old + i])
  end
end

---@param proposal claude-code.Proposal
---@param hunk claude-code.Hunk
---@param margin claude-code.Chunk
local function mark_deleted(proposal, hunk, margin)
  local buf = proposal.new_buf --[[@as integer]]
  local row = hunk.new_count > 0 and hunk.new - 1 or hunk.new
  local count = api.nvim_buf_line_count(buf)
  api.nvim_buf_set_extmark(buf, NAMESPACE, math.min(row, count - 1), 0, {
    virt_lines = deleted.lines(proposal, hunk, margin),
    virt_lines_leftcol = true,
    virt_lines_above = row < count,
    virt_lines_overflow = CAN_SCROLL and "scroll" or nil,
  })
end

---A sign, and room up to where the lines of the buffer begin.
---@param win integer
---@return claude-code.Chunk
local function margin_of(win)
  local cells = math.max(2, fn.getwininfo(win)[1].textoff)
  return { "-" .. (" "):rep(cells - 1), highlights.name("Removed") }
end

---Draws all again if it was edited, or if the columns in front of its lines have changed.
---@param win integer
function InlineMarks:show(win)
  local proposal, now, margin = self.proposal, self.proposal:hunks(), margin_of(win)
  if self.drawn == now and self.margin == margin[1] then
    return
  end
  self.drawn, self.margin = now, margin[1]
  api.nvim_buf_clear_namespace(proposal.new_buf, NAMESPACE, 0, -1)
  for _, hunk in ipairs(now.list) do
    if hunk.new_count > 0 then
      mark_new(proposal, hunk)
    end
    if hunk.old_count > 0 then
      mark_deleted(proposal, hunk, margin)
    end
  end
end

---@return integer line of the first change, 1 if there is none
function InlineMarks:first_line()
  local first = self.proposal:hunks().list[1]
  local count = api.nvim_buf_line_count(self.proposal.new_buf)
  return first and math.min(hunks.span(first, "new"), count) or 1
end

---@return integer count of virtual lines above the first line
function InlineMarks:lines_above_first()
  local first = self.proposal:hunks().list[1]
  local on_top = first and hunks.span(first, "new") == 1
  return on_top and deleted.height(first) or 0
end

return M
