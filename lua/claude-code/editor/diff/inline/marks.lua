--- Colours and virtual lines that make a diff of one buffer.
local api, fn = vim.api, vim.fn
local deleted = require("claude-code.editor.diff.inline.deleted")
local highlights = require("claude-code.editor.diff.highlights")
local hunks = require("claude-code.editor.diff.hunks")

local NAMESPACE = api.nvim_create_namespace("claude-code.diff.inline")

---Below tree-sitter's (100): its foreground goes on our background.
local LINE_PRIORITY, TEXT_PRIORITY = 50, 60

---Within longer lines and hunks nobody sees what changed in a line anyway; bytes and lines.
local LONGEST_LINE, LONGEST_HUNK = 2000, 200

local CAN_SCROLL = fn.has("nvim-0.11") == 1

---@class claude-code.InlineMarks
---@field private proposal claude-code.Proposal
---@field private drawn? claude-code.HunkList what is shown
local InlineMarks = {}
InlineMarks.__index = InlineMarks

local M = {}

---@param proposal claude-code.Proposal
---@return claude-code.InlineMarks
function M.new(proposal)
  return setmetatable({ proposal = proposal }, InlineMarks)
end

---@param text string
---@param byte integer 1-based
---@return boolean does a character begin here?
local function begins(text, byte)
  local value = text:byte(byte)
  return value == nil or value < 0x80 or value >= 0xC0
end

---What a line has between the beginning and the end it shares with its old form.
---@param old string
---@param new string
---@return integer first 0-based byte in `new`
---@return integer last 0-based, not included
local function changed_part(old, new)
  local shortest = math.min(#old, #new)
  local head = 0
  while head < shortest and old:byte(head + 1) == new:byte(head + 1) do
    head = head + 1
  end
  while head > 0 and not begins(new, head + 1) do
    head = head - 1
  end
  local tail = 0
  while tail < shortest - head and old:byte(-tail - 1) == new:byte(-tail - 1) do
    tail = tail + 1
  end
  while tail > 0 and not begins(new, #new - tail + 1) do
    tail = tail - 1
  end
  return head, #new - tail
end

---@param buf integer
---@param row integer 0-based
---@param old string
local function mark_text(buf, row, old)
  local new = api.nvim_buf_get_lines(buf, row, row + 1, false)[1]
  if #old > LONGEST_LINE or #new > LONGEST_LINE then
    return
  end
  local first, last = changed_part(old, new)
  if first < last then
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, first, {
      end_col = last,
      hl_group = highlights.name("Text"),
      priority = TEXT_PRIORITY,
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
  for i = 0, math.min(hunk.old_count, hunk.new_count, LONGEST_HUNK) - 1 do
    mark_text(buf, row + i, proposal.old.lines[hunk.old + i])
  end
end

---@param proposal claude-code.Proposal
---@param hunk claude-code.Hunk
local function mark_deleted(proposal, hunk)
  local buf = proposal.new_buf --[[@as integer]]
  local row = hunk.new_count > 0 and hunk.new - 1 or hunk.new
  local count = api.nvim_buf_line_count(buf)
  api.nvim_buf_set_extmark(buf, NAMESPACE, math.min(row, count - 1), 0, {
    virt_lines = deleted.lines(proposal, hunk),
    virt_lines_above = row < count,
    virt_lines_overflow = CAN_SCROLL and "scroll" or nil,
  })
end

---Draws all again if it was edited.
function InlineMarks:show()
  local proposal, now = self.proposal, self.proposal:hunks()
  if self.drawn == now then
    return
  end
  self.drawn = now
  api.nvim_buf_clear_namespace(proposal.new_buf, NAMESPACE, 0, -1)
  for _, hunk in ipairs(now.list) do
    if hunk.new_count > 0 then
      mark_new(proposal, hunk)
    end
    if hunk.old_count > 0 then
      mark_deleted(proposal, hunk)
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
