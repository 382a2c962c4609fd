--- Scrolls sideways to a change that 'nowrap' hides, far to the right in its line.
local api = vim.api

---So much of what follows the change's beginning must be visible, in cells.
local LEAST_VISIBLE = 10

---So far to the right, in bytes, it is not looked for: Neovim draws such lines slowly.
local FARTHEST = 20000

local M = {}

---@param line string
---@param other string
---@return integer bytes that both begin with, FARTHEST at most
local function common_prefix(line, other)
  local shortest = math.min(#line, #other, FARTHEST)
  for byte = 1, shortest do
    if line:byte(byte) ~= other:byte(byte) then
      return byte - 1
    end
  end
  return shortest
end

---@param win integer
---@param row integer 1-based
---@param line string
---@param column integer 0-based, in bytes
local function show(win, row, line, column)
  local width = api.nvim_win_get_width(win) - vim.fn.getwininfo(win)[1].textoff
  api.nvim_win_call(win, function()
    -- Vim script has a line feed for a NUL, and shows both alike.
    local cells = vim.fn.strdisplaywidth((line:sub(1, column):gsub("%z", "\n")))
    if not vim.wo.wrap and cells + LEAST_VISIBLE > width then
      api.nvim_win_set_cursor(win, { row, column })
      vim.fn.winrestview({ leftcol = cells - math.floor(width / 2) })
    end
  end)
end

---Moves the cursor as well: Neovim keeps it in sight.
---@param win integer
---@param row integer 1-based
---@param other string the line that it replaces, or that replaces it
function M.to_part(win, row, other)
  local line = api.nvim_buf_get_lines(api.nvim_win_get_buf(win), row - 1, row, false)[1] or ""
  local column = common_prefix(line, other)
  if column < FARTHEST then
    show(win, row, line, column)
  end
end

---@param windows integer[] of the diff
---@param proposal claude-code.Proposal
---@param hunk? claude-code.Hunk
function M.to_change(windows, proposal, hunk)
  if not hunk or hunk.old_count == 0 or hunk.new_count == 0 then
    return
  end
  local old = proposal.old.lines[hunk.old]
  local new = api.nvim_buf_get_lines(proposal.new_buf, hunk.new - 1, hunk.new, false)[1]
  for _, win in ipairs(windows) do
    local is_old = api.nvim_win_get_buf(win) == proposal.old_buf
    M.to_part(win, is_old and hunk.old or hunk.new, is_old and new or old)
  end
end

return M
