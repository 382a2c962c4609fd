--- Accepting and dropping the hunk under the cursor. A dropped hunk is the old file's lines put back
--- into the proposal, as an edit that `u` undoes.
local api = vim.api
local hunks = require("claude-code.editor.hunks")
local notify = require("claude-code.messages.notify")
local scratch = require("claude-code.editor.diff.scratch")

local M = {}

---@param cursor claude-code.HunkCursor
---@return integer? index
local function hunk_under(cursor)
  local index = cursor:index()
  if not index then
    notify.info("the cursor is not on a hunk", "diff.hunk")
  end
  return index
end

---@param proposal claude-code.Proposal
---@param hunk claude-code.Hunk
local function put_back(proposal, hunk)
  local buf = proposal.new_buf --[[@as integer]]
  local lines = vim.list_slice(proposal.old.lines, hunk.old, hunk.old + hunk.old_count - 1)
  local first, last = hunks.rows(hunk)
  if hunk.new_count == 0 and hunk.new == 0 and api.nvim_buf_line_count(buf) == 1 then
    -- A proposal without any text has a line in its buffer all the same.
    last = api.nvim_buf_get_lines(buf, 0, 1, false)[1] == "" and 1 or last
  end
  scratch.close_undo_block(buf)
  api.nvim_buf_set_lines(buf, first, last, false, lines)
end

---Puts the old lines back in place of the hunk under the cursor.
---@param proposal claude-code.Proposal
---@param cursor claude-code.HunkCursor
function M.drop(proposal, cursor)
  local index = hunk_under(cursor)
  if not index then
    return
  end
  put_back(proposal, proposal:hunks().list[index])
  if proposal:hunks().list[index] then
    cursor:go_to(index)
  end
end

---Accepts the hunk under the cursor, or no longer if it was.
---@param proposal claude-code.Proposal
---@param cursor claude-code.HunkCursor
function M.accept(proposal, cursor)
  local index = hunk_under(cursor)
  if index and proposal.accepted:toggle(index) and proposal:hunks().list[index + 1] then
    cursor:go_to(index + 1)
  end
end

return M
