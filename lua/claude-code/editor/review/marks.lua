--- Draws the hunks that wait for a review in the user's own files. Signs are there always or during a
--- review (option `review.signs`); colours and old lines only during one.
local api = vim.api
local draw = require("claude-code.editor.diff.inline.draw")
local text = require("claude-code.editor.review.text")

local NAMESPACE = api.nvim_create_namespace("claude-code.review")

---Below gitsigns (6), mini.diff and diagnostics (10).
local SIGN_PRIORITY = 5

---Signs of one hunk.
local MOST_SIGNS = 2000

local GROUPS = {
  add = "ClaudeCodeReviewAdd",
  change = "ClaudeCodeReviewChange",
  delete = "ClaudeCodeReviewDelete",
}
for group, link in pairs({ add = "Added", change = "Changed", delete = "Removed" }) do
  api.nvim_set_hl(0, GROUPS[group], { link = link, default = true })
end

local M = {}

---@param buf integer
---@param hunk claude-code.ReviewHunk
local function mark_signs(buf, hunk)
  local kind = hunk.new[2] == 0 and "delete" or hunk.old[2] == 0 and "add" or "change"
  local first = math.max(hunk.new[1] - 1, 0)
  for row = first, first + math.min(math.max(hunk.new[2], 1), MOST_SIGNS) - 1 do
    api.nvim_buf_set_extmark(buf, NAMESPACE, row, 0, {
      sign_text = kind == "delete" and "▁" or "▎",
      sign_hl_group = GROUPS[kind],
      priority = SIGN_PRIORITY,
      strict = false,
    })
  end
end

---@param buf integer
---@param hunk claude-code.ReviewHunk
---@return claude-code.DrawnHunk
local function drawn(buf, hunk)
  local old_lines = text.rows(buf, hunk.old_lines or {}, hunk.old[1])
  return { new = hunk.new[1], new_count = hunk.new[2], old_lines = old_lines }
end

---@param buf integer
function M.clear(buf)
  if api.nvim_buf_is_valid(buf) then
    api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  end
end

---@param buf integer
---@param hunks claude-code.ReviewHunk[] of the text that the buffer has now
---@param reviewing boolean
function M.show(buf, hunks, reviewing)
  M.clear(buf)
  local signs = require("claude-code.config").get().review.signs
  local win = reviewing and vim.fn.bufwinid(buf) or -1
  local margin = win ~= -1 and draw.margin(win) or { "- ", "ClaudeCodeDiffRemoved" }
  for _, hunk in ipairs(hunks) do
    if reviewing then
      draw.hunk(buf, NAMESPACE, drawn(buf, hunk), margin)
    elseif signs == "always" then
      mark_signs(buf, hunk)
    end
  end
end

return M
