--- Hunks of a proposal that were accepted one by one; accepting the diff then takes only these. Extmarks over their
--- lines move and grow with edits. The other hunks have marks, too: they show whether an edit joined one of them to an
--- accepted one.
local api = vim.api
local hunks = require("claude-code.editor.changes.hunks")
local notify = require("claude-code.messages.notify")

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

---Marks that touch a hunk: before any edit its own, as at least one line is between two hunks.
local function marks_at(buf, hunk, namespace)
  local first, last = hunks.rows(hunk)
  -- A mark that ends where the hunk begins touches it; one at the beginning of the line above does not.
  local from = first > 0 and { first - 1, 1 } or { 0, 0 }
  return api.nvim_buf_get_extmarks(buf, namespace, from, { last, -1 }, { overlap = true })
end

---Sets the marks of all hunks again. Marks without a hunk stay: undo may bring that back.
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

---@param proposal claude-code.Proposal
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

---Accepts a hunk, or takes that back.
---@param proposal claude-code.Proposal
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
---@param proposal claude-code.Proposal
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

---Asks once whether the user means to accept this, as their edits changed the accepted hunks.
---@param proposal claude-code.Proposal
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
---@param proposal claude-code.Proposal
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
  require("claude-code.editor.documents.patch").break_undo(buf)
  api.nvim_buf_set_lines(buf, 0, -1, false, #taken > 0 and taken or { "" })
end

return M
