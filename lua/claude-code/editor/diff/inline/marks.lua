--- Colours and virtual lines that make a diff of one buffer. The virtual lines get the colours of
--- their text near what is on screen only: to find them for a whole file may take seconds.
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

local M = {}

---@class claude-code.Drawing
---@field known claude-code.HunkCache what it shows
---@field plain table<integer, integer> marks of virtual lines without their colours, by the hunk's index

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

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
local function mark_new(session, hunk)
  local row = hunk.new - 1
  api.nvim_buf_set_extmark(session.new_buf, NAMESPACE, row, 0, {
    end_row = row + hunk.new_count,
    end_col = 0,
    hl_group = highlights.name(hunk.old_count > 0 and "Change" or "Add"),
    hl_eol = true,
    priority = LINE_PRIORITY,
    strict = false,
  })
  for i = 0, math.min(hunk.old_count, hunk.new_count, LONGEST_HUNK) - 1 do
    mark_text(session.new_buf, row + i, session.old.lines[hunk.old + i])
  end
end

---@param session claude-code.Diff
---@param hunk claude-code.Hunk
---@param lines claude-code.Chunk[][]
---@param id? integer of the mark that it takes the place of
---@return integer id
local function mark_deleted(session, hunk, lines, id)
  local row = hunk.new_count > 0 and hunk.new - 1 or hunk.new
  local count = api.nvim_buf_line_count(session.new_buf)
  local mark = { id = id, virt_lines = lines, virt_lines_above = row < count }
  mark.virt_lines_overflow = CAN_SCROLL and "scroll" or nil
  return api.nvim_buf_set_extmark(session.new_buf, NAMESPACE, math.min(row, count - 1), 0, mark)
end

---@param session claude-code.Diff
---@param known claude-code.HunkCache
local function draw(session, known)
  api.nvim_buf_clear_namespace(session.new_buf, NAMESPACE, 0, -1)
  session.drawn = { known = known, plain = {} }
  for i, hunk in ipairs(known.list) do
    if hunk.new_count > 0 then
      mark_new(session, hunk)
    end
    if hunk.old_count > 0 then
      session.drawn.plain[i] = mark_deleted(session, hunk, deleted.plain(session, hunk))
    end
  end
end

---@param session claude-code.Diff
---@param win integer
local function colour_in(session, win)
  local drawn = session.drawn --[[@as claude-code.Drawing]]
  local list, margin = drawn.known.list, api.nvim_win_get_height(win)
  local first = hunks.before(list, "new", fn.line("w0", win) - margin)
  for i = math.max(first, 1), hunks.before(list, "new", fn.line("w$", win) + margin) do
    if drawn.plain[i] then
      mark_deleted(session, list[i], deleted.coloured(session, list[i]), drawn.plain[i])
      drawn.plain[i] = nil
    end
  end
end

---Gives virtual lines near what is on screen the colours of their text.
---@param session claude-code.Diff
function M.colour(session)
  local drawn = session.drawn
  -- After an edit all is drawn anew soon; by now the hunks may be elsewhere.
  if not drawn or drawn.known.tick ~= api.nvim_buf_get_changedtick(session.new_buf) then
    return
  end
  for _, win in ipairs(fn.win_findbuf(session.new_buf)) do
    colour_in(session, win)
  end
end

---Draws all anew if it was edited.
---@param session claude-code.Diff
function M.show(session)
  local known = hunks.of(session)
  if not session.drawn or session.drawn.known ~= known then
    draw(session, known)
  end
  M.colour(session)
end

---@param session claude-code.Diff
---@return integer line of the first change, 1 if there is none
function M.first_line(session)
  local first = hunks.of(session).list[1]
  local count = api.nvim_buf_line_count(session.new_buf)
  return first and math.min(hunks.span(first, "new"), count) or 1
end

---@param session claude-code.Diff
---@return integer count of virtual lines above the first line
function M.above_first(session)
  local first = hunks.of(session).list[1]
  local on_top = first and hunks.span(first, "new") == 1
  return on_top and deleted.height(first) or 0
end

return M
