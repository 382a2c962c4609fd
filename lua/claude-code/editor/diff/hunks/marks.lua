--- Which hunks were accepted by themselves: marks over their lines in the proposal, which move and
--- grow with its edits, so that what was chosen stays chosen. The other hunks have marks as well from
--- then on, so that an edit which joins one of them to an accepted one is noticed.
local api = vim.api
local highlights = require("claude-code.editor.diff.highlights")
local hunks = require("claude-code.editor.diff.hunks")

local ACCEPTED = api.nvim_create_namespace("claude-code.diff.accepted")
local OPEN = api.nvim_create_namespace("claude-code.diff.open")
local LABELS = api.nvim_create_namespace("claude-code.diff.accepted.labels")

local M = {}

---@alias claude-code.HunkState
---| "accepted"
---| "open" not accepted
---| "joined" an edit made one hunk of accepted and open ones

---@class claude-code.Choice
---@field of claude-code.HunkCache
---@field states claude-code.HunkState[] by index of the hunk
---@field accepted integer count of hunks that are not open
---@field joined boolean is any of them?
---@field told? boolean the person was told so

---@class claude-code.HunkMark rows 0-based; `last` not included
---@field id integer
---@field first integer
---@field last integer

---@param buf integer
---@param namespace integer
---@return claude-code.HunkMark[] from above
local function marks_of(buf, namespace)
  local found = api.nvim_buf_get_extmarks(buf, namespace, 0, -1, { details = true })
  return vim.tbl_map(function(mark)
    local details = mark[4]
    local last = details.end_row + (details.end_col > 0 and 1 or 0)
    return { id = mark[1], first = mark[2], last = last }
  end, found)
end

---Calls back for each mark and the hunk that it touches. Between two hunks is at least one line, so
---that before any edit a mark touches its own hunk only.
---@param marks claude-code.HunkMark[] from above
---@param list claude-code.Hunk[]
---@param visit fun(index: integer, mark: claude-code.HunkMark)
local function each_touched(marks, list, visit)
  local from = 1
  for index, hunk in ipairs(list) do
    local first, last = hunks.rows(hunk)
    while marks[from] and marks[from].last < first do
      from = from + 1
    end
    local at = from
    while marks[at] and marks[at].first <= last do
      if marks[at].last >= first then
        visit(index, marks[at])
      end
      at = at + 1
    end
  end
end

---@param session claude-code.Diff
---@return boolean
local function is_made(session)
  return #api.nvim_buf_get_extmarks(session.new_buf, ACCEPTED, 0, -1, { limit = 1 }) > 0
end

---@param buf integer
---@param known claude-code.HunkCache
---@return claude-code.Choice
local function compute(buf, known)
  local choice = { of = known, states = {}, accepted = 0, joined = false }
  for index in ipairs(known.list) do
    choice.states[index] = "open"
  end
  each_touched(marks_of(buf, ACCEPTED), known.list, function(index)
    if choice.states[index] == "open" then
      choice.states[index] = "accepted"
      choice.accepted = choice.accepted + 1
    end
  end)
  each_touched(marks_of(buf, OPEN), known.list, function(index)
    if choice.states[index] == "accepted" then
      choice.states[index], choice.joined = "joined", true
    end
  end)
  return choice
end

---@param session claude-code.Diff
---@return claude-code.Choice? choice nil if no hunk was accepted by itself, so that all count
function M.of(session)
  local known = is_made(session) and hunks.of(session)
  if not known or #known.list == 0 then
    return nil
  end
  if not session.choice or session.choice.of ~= known then
    session.choice = compute(session.new_buf, known)
  end
  return session.choice
end

---Marks all hunks anew. Marks whose hunk is gone stay: it may come back, by undo.
---@param buf integer
---@param list claude-code.Hunk[]
---@param states table<integer, claude-code.HunkState>
local function mark(buf, list, states)
  each_touched(marks_of(buf, ACCEPTED), list, function(_, found)
    api.nvim_buf_del_extmark(buf, ACCEPTED, found.id)
  end)
  api.nvim_buf_clear_namespace(buf, OPEN, 0, -1)
  for index, hunk in ipairs(list) do
    local first, last = hunks.rows(hunk)
    local namespaces = {
      accepted = { ACCEPTED },
      joined = { ACCEPTED, OPEN },
      open = { OPEN },
    }
    for _, namespace in ipairs(namespaces[states[index] or "open"]) do
      api.nvim_buf_set_extmark(buf, namespace, first, 0, {
        end_row = last,
        end_col = 0,
        right_gravity = false,
        end_right_gravity = true,
      })
    end
  end
end

---Accepts a hunk by itself, or no longer if it was.
---@param session claude-code.Diff
---@param index integer
---@return boolean accepted
function M.toggle(session, index)
  local choice = M.of(session)
  local states = choice and vim.list_slice(choice.states) or {}
  local accepted = (states[index] or "open") == "open"
  states[index] = accepted and "accepted" or "open"
  mark(session.new_buf, hunks.of(session).list, states)
  session.choice = nil
  return accepted
end

---All hunks count again.
---@param session claude-code.Diff
function M.clear(session)
  api.nvim_buf_clear_namespace(session.new_buf, ACCEPTED, 0, -1)
  api.nvim_buf_clear_namespace(session.new_buf, OPEN, 0, -1)
  session.choice = nil
end

---Labels the accepted hunks, where they are now.
---@param session claude-code.Diff
function M.show(session)
  local buf, choice = session.new_buf, M.of(session)
  api.nvim_buf_clear_namespace(buf, LABELS, 0, -1)
  local bottom = api.nvim_buf_line_count(buf) - 1
  for index, state in ipairs(choice and choice.states or {}) do
    if state ~= "open" then
      local row = hunks.rows(choice.of.list[index])
      api.nvim_buf_set_extmark(buf, LABELS, math.min(row, bottom), 0, {
        virt_text = { { " ✓ accepted ", highlights.name("Accepted") } },
        virt_text_pos = "right_align",
      })
    end
  end
end

return M
