--- Two windows in diff mode: the file on disk, and beside or below it the proposal.
local api = vim.api
local highlights = require("claude-code.editor.diff.highlights")
local windows = require("claude-code.editor.windows")

---What diff mode and we change in a window.
local DIFF_OPTIONS = {
  "cursorbind",
  "diff",
  "foldcolumn",
  "foldenable",
  "foldlevel",
  "foldmethod",
  "scrollbind",
  "winbar",
  "winhighlight",
  "wrap",
}

---A side smaller than this shows too little of a change, in cells.
local MIN_WIDTH, MIN_HEIGHT = 30, 4

---@class claude-code.SidesPlace : claude-code.DiffPlace
---@field left integer the window of the old side; above, if they stand one on the other
---@field right integer
---@field borrowed? claude-code.BorrowedWindow what `left` showed; nil if the window is ours
---@field scrollopt string as :diffthis, which changes it for all windows, found it

---@alias claude-code.SplitDirection "right"|"below"

local M = {}

---@param win integer
---@param buf integer
---@return boolean
local function shows(win, buf)
  return api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == buf
end

---@param win integer
---@param command "diffthis"|"diffoff"
local function set_diff(win, command)
  api.nvim_win_call(win, vim.cmd[command])
end

---@param width integer
---@param height integer
---@param direction claude-code.SplitDirection
---@return boolean
function M.fit(width, height, direction)
  if direction == "right" then
    return width >= 2 * MIN_WIDTH + 1
  end
  -- A status line and a winbar each.
  return height >= 2 * (MIN_HEIGHT + 2)
end

---The size of the proposal's side: one of its own keeps 'equalalways' from resizing all windows.
---@param win integer of the old side
---@param direction claude-code.SplitDirection
---@return vim.api.keyset.win_config
local function beside(win, direction)
  local width, height = api.nvim_win_get_width(win), api.nvim_win_get_height(win)
  return {
    win = win,
    split = direction,
    width = direction == "right" and math.max(1, math.floor((width - 1) / 2)) or nil,
    height = direction == "below" and math.max(1, math.floor((height - 1) / 2)) or nil,
  }
end

---@param session claude-code.Diff
---@param left integer window of the old side
---@param borrowed? claude-code.BorrowedWindow
---@param direction claude-code.SplitDirection
---@param shot claude-code.SavedLayout
---@return claude-code.SidesPlace
function M.open(session, left, borrowed, direction, shot)
  local place = { shot = shot, left = left, borrowed = borrowed, windows = { left } }
  place.scrollopt = vim.go.scrollopt
  session.place = place
  local right = api.nvim_open_win(session.new_buf, false, beside(left, direction))
  place.right, place.focus = right, right
  place.windows = { left, right }
  for _, win in ipairs(place.windows) do
    vim.wo[win][0].winfixbuf = false
    set_diff(win, "diffthis")
    highlights.in_window(win)
    api.nvim_win_set_cursor(win, { 1, 0 })
  end
  M.first_change(right)
  return place
end

---Both sides at the first change, so that a person sees what it is about.
---@param win integer
function M.first_change(win)
  api.nvim_win_call(win, function()
    if vim.fn.diff_hlID(1, 1) == 0 and vim.fn.diff_filler(1) == 0 then
      pcall(vim.cmd, "keepjumps normal! ]c")
    end
  end)
end

---@param session claude-code.Diff
---@return boolean
function M.intact(session)
  local place = session.place --[[@as claude-code.SidesPlace]]
  return shows(place.left, session.old_buf) and shows(place.right, session.new_buf)
end

---@param session claude-code.Diff
function M.close(session)
  local place = session.place --[[@as claude-code.SidesPlace]]
  local left_ours = shows(place.left, session.old_buf)
  local right_ours = place.right ~= nil and shows(place.right, session.new_buf)
  local closed_left = not api.nvim_win_is_valid(place.left)
  for _, win in ipairs(place.windows) do
    if api.nvim_win_is_valid(win) then
      set_diff(win, "diffoff")
    end
  end
  vim.go.scrollopt = place.scrollopt
  for win, ours in pairs({ [place.left] = left_ours, [place.right or 0] = right_ours }) do
    if not ours and win ~= 0 and api.nvim_win_is_valid(win) then
      windows.release(win, place.borrowed, DIFF_OPTIONS)
    end
  end
  if left_ours and place.borrowed then
    windows.give_back(place.borrowed, place.left)
  elseif closed_left and place.borrowed and right_ours then
    windows.give_back(place.borrowed, place.right)
    right_ours = false
  end
  if right_ours then
    windows.close(place.right)
  end
  if left_ours and not place.borrowed then
    windows.close(place.left)
  end
  windows.restore_bufhidden(place.borrowed)
end

return M
