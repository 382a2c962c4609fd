--- The hunks of the user's buffers, as they were shown last.
local api = vim.api
local scopes = require("claude-code.editor.review.scope")

local M = {}

---Which text and scope the hunks are about.
---@type table<integer, { hunks: claude-code.ReviewHunk[], tick: integer, scope: claude-code.ReviewScope }>
local known = {}

---@param buf integer
---@return claude-code.ReviewHunk[] of the text it had lately
function M.of(buf)
  return known[buf] and known[buf].hunks or {}
end

---@param hunks claude-code.ReviewHunk[]
---@return table? variable `vim.b.claude_code_review`
local function summary(hunks)
  if #hunks == 0 then
    return nil
  end
  local added, removed, mixed, turn = 0, 0, false, nil
  for _, hunk in ipairs(hunks) do
    added, removed = added + hunk.added, removed + hunk.removed
    mixed = mixed or hunk.mixed
    for _, owner in ipairs(hunk.owners) do
      turn = math.max(turn or 0, owner.turn or 0)
    end
  end
  return { hunks = #hunks, added = added, removed = removed, mixed = mixed, turn = turn }
end

---@param buf integer valid
---@param hunks claude-code.ReviewHunk[] of the text that it has now
function M.set(buf, hunks)
  local tick = api.nvim_buf_get_changedtick(buf)
  known[buf] = #hunks > 0 and { hunks = hunks, tick = tick, scope = scopes.current() } or nil
  vim.b[buf].claude_code_review = summary(hunks)
end

---@param buf integer that is not loaded any more
function M.forget(buf)
  known[buf] = nil
end

---@param hunk claude-code.ReviewHunk
---@param row integer
---@return boolean
local function is_at(hunk, row)
  local first, count = hunk.new[1], hunk.new[2]
  if count == 0 then
    return row == first or row == first + 1
  end
  return row >= first and row < first + count
end

---@param hunks claude-code.ReviewHunk[]
---@param row integer
---@return claude-code.ReviewHunk? the one with this row
function M.find(hunks, row)
  return vim.iter(hunks):find(function(hunk)
    return is_at(hunk, row)
  end)
end

---@param buf integer
---@param row integer
---@return claude-code.ReviewHunk?
function M.at(buf, row)
  return M.find(M.of(buf), row)
end

---@param buf integer
---@param row integer
---@return claude-code.ReviewHunk? nil also where the buffer's text is another one by now
function M.at_now(buf, row)
  local shown = known[buf]
  local is_current = shown
    and shown.tick == api.nvim_buf_get_changedtick(buf)
    and shown.scope == scopes.current()
  return is_current and M.at(buf, row) or nil
end

return M
