--- One window in the file's place with the proposal, and deleted lines as virtual lines.
local api = vim.api
local draw = require("claude-code.editor.changes.draw")
local hunks = require("claude-code.editor.changes.hunks")
local reveal = require("claude-code.editor.changes.reveal")
local windows = require("claude-code.editor.windows")

local NAMESPACE = api.nvim_create_namespace("claude-code.diff.inline")

---Options that we change in the window.
local OPTIONS = { "conceallevel", "foldenable", "signcolumn", "winbar" }

---@class claude-code.Inline : claude-code.Layout
---@field private proposal claude-code.Proposal
---@field private place claude-code.DiffPlace
---@field private shown? claude-code.HunkList what is drawn
---@field private drawing? claude-code.Drawing
---@field private borrowed? claude-code.Borrowed
local Inline = {}
Inline.__index = Inline

local M = {}

function M.new(proposal, place)
  return setmetatable({ proposal = proposal, place = place, windows = {} }, Inline)
end

function Inline:open()
  self.borrowed = self.place:take(self.proposal.new_buf --[[@as integer]])
  self.win = self.borrowed.win
  self.windows = { self.win }
  vim.wo[self.win][0].winfixbuf = false
  vim.wo[self.win][0].foldenable = false
  -- Concealed text, such as the address of a link, will be written, too.
  vim.wo[self.win][0].conceallevel = 0
  -- Text begins in the same column with and without signs.
  vim.wo[self.win][0].signcolumn = "yes:1"
  -- The bar takes a row of the window: set it before scrolling to the hunk.
  vim.wo[self.win][0].winbar = " "
  local first = self.proposal:hunks().list[1]
  local count = api.nvim_buf_line_count(self.proposal.new_buf)
  api.nvim_win_set_cursor(self.win, { first and math.min(hunks.span(first, "new"), count) or 1, 0 })
  self:reveal(first)
  self.borrowed:keep_place()
end

function Inline.even_out() end

function Inline.is_cramped()
  return false
end

local function drawn(proposal, hunk)
  local lines = vim.list_slice(proposal.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
  return { new = hunk.new, new_count = hunk.new_count, old_lines = lines }
end

---Draws again once the proposal was edited.
function Inline:refresh()
  local proposal, now = self.proposal, self.proposal:hunks()
  local buf = proposal.new_buf --[[@as integer]]
  if self.shown == now then
    return self.drawing:show()
  end
  self.shown = now
  self.drawing = draw.start(buf, NAMESPACE, now.list, function(pen, hunk, style)
    draw.inline(buf, pen, drawn(proposal, hunk), style)
  end)
end

---@param hunk? claude-code.Hunk whose first line has the cursor
function Inline:reveal(hunk)
  self:refresh()
  if hunk then
    reveal.hunk(self.win, drawn(self.proposal, hunk))
  end
  reveal.old_lines_on_top(self.win, NAMESPACE)
end

function Inline:is_intact()
  return windows.shows(self.win, self.proposal.new_buf)
end

---@return integer? gone, integer? instead
function Inline:close()
  if self.drawing then
    self.drawing:stop()
  end
  local instead = self.borrowed and self.borrowed:finish(OPTIONS)
  return instead and self.win, instead
end

return M
