--- Decides hunk by hunk. Dropping a hunk puts the old lines back into the proposal, which `u` undoes. Once hunks are
--- accepted, accepting the diff takes only these. Extmarks over their lines move and grow with edits. The other hunks
--- have marks, too, which show whether an edit joined one of them to an accepted one.
local api = vim.api
local hunks = require("claude-code.editor.changes.hunks")
local notify = require("claude-code.messages.notify")
local patch = require("claude-code.editor.documents.patch")

local ACCEPTED = api.nvim_create_namespace("claude-code.diff.accepted")
local OPEN = api.nvim_create_namespace("claude-code.diff.open")
local NAMESPACES = { accepted = { ACCEPTED }, joined = { ACCEPTED, OPEN }, open = { OPEN } }
local LABELS = api.nvim_create_namespace("claude-code.diff.accepted.labels")

---@alias claude-code.HunkState
---| "accepted"
---| "open" not accepted
---| "joined" an edit made one hunk of accepted and open ones

---@class claude-code.HunkStates
---@field of claude-code.HunkList
---@field states claude-code.HunkState[] by index of the hunk
---@field count integer of hunks that are not open
---@field joined boolean any of them is

local M = {}

---Marks that touch a hunk. Before any edit these are its own, since a line is between two hunks.
local function marks_at(buf, hunk, namespace)
  local first, last = hunks.rows(hunk)
  -- A mark that ends where the hunk begins touches it; one at the beginning of the line above does not.
  local from = first > 0 and { first - 1, 1 } or { 0, 0 }
  return api.nvim_buf_get_extmarks(buf, namespace, from, { last, -1 }, { overlap = true })
end

---Sets the marks of all hunks again. Keeps marks without a hunk, which undo may bring back.
local function mark(buf, list, states)
  api.nvim_buf_clear_namespace(buf, OPEN, 0, -1)
  for index, hunk in ipairs(list) do
    for _, found in ipairs(marks_at(buf, hunk, ACCEPTED)) do
      api.nvim_buf_del_extmark(buf, ACCEPTED, found[1])
    end
    local first, last = hunks.rows(hunk)
    for _, namespace in ipairs(NAMESPACES[states[index] or "open"]) do
      api.nvim_buf_set_extmark(buf, namespace, first, 0, {
        end_row = last,
        end_col = 0,
        right_gravity = false,
        end_right_gravity = true,
      })
    end
  end
end

---@return claude-code.HunkStates? states nil if no hunk was accepted, so that all count
function M.states(proposal)
  local buf = proposal.new_buf --[[@as integer]]
  local any = #api.nvim_buf_get_extmarks(buf, ACCEPTED, 0, -1, { limit = 1 }) > 0
  local of = any and proposal:hunks()
  if not of or #of.list == 0 then
    return nil
  end
  local found = { of = of, states = {}, count = 0, joined = false }
  for index, hunk in ipairs(of.list) do
    local state = "open"
    if #marks_at(buf, hunk, ACCEPTED) > 0 then
      state = #marks_at(buf, hunk, OPEN) > 0 and "joined" or "accepted"
      found.count = found.count + 1
    end
    found.states[index], found.joined = state, found.joined or state == "joined"
  end
  return found
end

---Accepts a hunk, or no longer accepts it.
---@return boolean accepted
function M.toggle(proposal, index)
  local known = M.states(proposal)
  local states = known and known.states or {}
  local accepted = (states[index] or "open") == "open"
  states[index] = accepted and "accepted" or "open"
  mark(proposal.new_buf, proposal:hunks().list, states)
  return accepted
end

---Labels the accepted hunks, where they are now.
function M.show_labels(proposal)
  local buf, known = proposal.new_buf, M.states(proposal)
  api.nvim_buf_clear_namespace(buf, LABELS, 0, -1)
  local bottom = api.nvim_buf_line_count(buf) - 1
  for index, state in ipairs(known and known.states or {}) do
    if state ~= "open" then
      local row = hunks.rows(known.of.list[index])
      api.nvim_buf_set_extmark(buf, LABELS, math.min(row, bottom), 0, {
        virt_text = { { " ✓ accepted ", "ClaudeCodeAccepted" } },
        virt_text_pos = "right_align",
      })
    end
  end
end

---Asks once whether the user accepts their edits of accepted hunks.
---@return boolean asked
function M.ask_after_edits(proposal)
  local known = M.states(proposal)
  if known and known.count == 0 then
    api.nvim_buf_clear_namespace(proposal.new_buf, ACCEPTED, 0, -1)
    api.nvim_buf_clear_namespace(proposal.new_buf, OPEN, 0, -1)
    notify.warn("none is chosen after your edits: accept again to take all", "diff.accept")
    return true
  elseif known and known.joined and proposal.warned ~= known.of then
    proposal.warned = known.of
    notify.warn("an accepted hunk was edited together with another: look again", "diff.accept")
    return true
  end
  return false
end

---Puts the old lines back in place of the hunks that are not accepted, if any hunk is.
function M.drop_others(proposal)
  local known, lines, old = M.states(proposal), proposal:lines(), proposal.old.lines
  if not known then
    return
  end
  local taken, from = {}, 1
  for index, hunk in ipairs(known.of.list) do
    if known.states[index] == "open" then
      local first, last = hunks.rows(hunk)
      vim.list_extend(taken, lines, from, first)
      vim.list_extend(taken, old, hunk.old, hunk.old + hunk.old_count - 1)
      from = last + 1
    end
  end
  if #lines > 1 or lines[1] ~= "" then
    vim.list_extend(taken, lines, from)
  end
  local buf = proposal.new_buf --[[@as integer]]
  patch.break_undo(buf)
  api.nvim_buf_set_lines(buf, 0, -1, false, #taken > 0 and taken or { "" })
end

---The window in which the user reads the diff: the current one, or that with the proposal.
---@return integer win, "old"|"new" side, integer count of the side's lines
local function viewed(view)
  local win = api.nvim_get_current_win()
  if not vim.tbl_contains(view.layout.windows, win) then
    win = view.layout.win
  end
  local buf = api.nvim_win_get_buf(win)
  return win, buf == view.proposal.old_buf and "old" or "new", api.nvim_buf_line_count(buf)
end

---@param list? claude-code.Hunk[] instead of the current ones
---@return integer? index of the hunk under the cursor
---@return integer nearest index of the last one at or above the cursor, or 0
function M.index(view, list)
  local win, side, count = viewed(view)
  list = list or view.proposal:hunks().list
  local line, to = api.nvim_win_get_cursor(win)[1], view.moved_to
  local tick = api.nvim_buf_get_changedtick(view.proposal.new_buf)
  local is_there = to and to.win == win and to.line == line and to.tick == tick
  local index = is_there and to.index or hunks.at(list, side, line, count)
  return index, index or hunks.before(list, side, line)
end

---Does not add to the jump list: the window may be the user's.
local function go_to(view, index)
  local win, side, count = viewed(view)
  local line = math.min(hunks.span(view.proposal:hunks().list[index], side), count)
  api.nvim_win_set_cursor(win, { line, 0 })
  local tick = api.nvim_buf_get_changedtick(view.proposal.new_buf)
  view.moved_to = { index = index, tick = tick, win = win, line = line }
  view.layout:reveal(view.proposal:hunks().list[index])
end

---@param steps integer negative: upwards
function M.move(view, steps)
  local list = view.proposal:hunks().list
  local index, nearest = M.index(view)
  local from = steps < 0 and not index and nearest + 1 or nearest
  local to = math.max(1, math.min(#list, from + steps))
  if #list == 0 then
    notify.info("the lines do not differ", "diff.hunk")
  elseif to == index then
    notify.info(steps > 0 and "this is the last hunk" or "this is the first hunk", "diff.hunk")
  else
    go_to(view, to)
  end
end

local function index_to_decide(view)
  local index = M.index(view)
  if not index then
    notify.info("the cursor is not on a hunk", "diff.hunk")
  end
  return index
end

---Puts the old lines back in place of the hunk, and with a count of those that follow.
function M.drop(view)
  local proposal = view.proposal
  local buf = proposal.new_buf --[[@as integer]]
  patch.break_undo(buf)
  for _ = 1, vim.v.count1 do
    local index = index_to_decide(view)
    local hunk = index and proposal:hunks().list[index]
    if not hunk then
      return
    end
    local lines = vim.list_slice(proposal.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
    local first, last = hunks.rows(hunk)
    if hunk.new_count == 0 and hunk.new == 0 and api.nvim_buf_line_count(buf) == 1 then
      -- The buffer of an empty proposal has one line.
      last = api.nvim_buf_get_lines(buf, 0, 1, false)[1] == "" and 1 or last
    end
    api.nvim_buf_set_lines(buf, first, last, false, lines)
    if not proposal:hunks().list[index] then
      return
    end
    go_to(view, index)
  end
end

---Accepts the hunk, or no longer accepts it, and with a count those that follow.
function M.accept(view)
  for _ = 1, vim.v.count1 do
    local index, proposal = index_to_decide(view), view.proposal
    if not (index and M.toggle(proposal, index) and proposal:hunks().list[index + 1]) then
      return
    end
    go_to(view, index + 1)
  end
end

return M
