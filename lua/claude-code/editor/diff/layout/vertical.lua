--- Side by side: the file on disk on the left, the proposal on the right.
---
--- A layout is a table of three functions; `diff.layout` names its module.
--- `open` shows a prepared session and returns its place, `intact` tells whether the person left
--- it as it is, `close` brings the person's windows back. All run with autocommands off.
local api = vim.api
local options = require("claude-code.editor.diff.options")
local shots = require("claude-code.editor.diff.shot")
local windows = require("claude-code.editor.diff.windows")

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
  "wrap",
}

---@class claude-code.DiffPlace
---@field shot claude-code.WindowShot how the windows were before
---@field windows integer[] those that show the diff
---@field layout? claude-code.DiffLayoutModule
---@field focus integer the window with the proposal

---@class claude-code.VerticalPlace : claude-code.DiffPlace
---@field left integer
---@field right integer
---@field borrowed? claude-code.WindowUse what `left` showed; nil if the window is ours

---@class claude-code.DiffLayoutModule
---@field open fun(session: claude-code.Diff, except?: integer): claude-code.DiffPlace
---@field intact fun(session: claude-code.Diff): boolean
---@field close fun(session: claude-code.Diff)

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

---@param session claude-code.Diff
---@param except? integer window that must not change (the person is typing there)
---@return claude-code.VerticalPlace
function M.open(session, except)
  local shot = shots.take()
  local left, borrowed
  if windows.has_diff() then
    left = windows.new_tab(session.old_buf)
  else
    left = windows.for_file(session.target, except)
  end
  if not left then
    left = windows.beside(session.old_buf)
  elseif api.nvim_win_get_buf(left) ~= session.old_buf then
    borrowed = windows.borrow(left, session.old_buf)
  end
  local place = { shot = shot, left = left, borrowed = borrowed, windows = { left } }
  session.place = place
  -- A size of its own keeps 'equalalways' from resizing all other windows.
  local width = math.max(1, math.floor((api.nvim_win_get_width(left) - 1) / 2))
  local right =
    api.nvim_open_win(session.new_buf, false, { split = "right", win = left, width = width })
  place.right, place.focus = right, right
  place.windows = { left, right }
  for _, win in ipairs(place.windows) do
    vim.wo[win][0].winfixbuf = false
    set_diff(win, "diffthis")
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
  local place = session.place --[[@as claude-code.VerticalPlace]]
  return shows(place.left, session.old_buf) and shows(place.right, session.new_buf)
end

---A window in which the person opened something else stays theirs, but is no diff any more.
---@param place claude-code.VerticalPlace
---@param win integer
local function release(place, win)
  local before = place.borrowed and place.borrowed.options or options.global()
  local ours = {}
  for _, name in ipairs(DIFF_OPTIONS) do
    ours[name] = before[name]
  end
  options.apply(win, ours)
end

---@param win integer
local function close_window(win)
  -- Fails for the last window, which then stays, empty.
  if not pcall(api.nvim_win_close, win, true) then
    api.nvim_win_call(win, vim.cmd.enew)
  end
end

---@param session claude-code.Diff
function M.close(session)
  local place = session.place --[[@as claude-code.VerticalPlace]]
  local left_ours = shows(place.left, session.old_buf)
  local right_ours = place.right ~= nil and shows(place.right, session.new_buf)
  local closed_left = not api.nvim_win_is_valid(place.left)
  for _, win in ipairs(place.windows) do
    if api.nvim_win_is_valid(win) then
      set_diff(win, "diffoff")
    end
  end
  for win, ours in pairs({ [place.left] = left_ours, [place.right or 0] = right_ours }) do
    if not ours and win ~= 0 and api.nvim_win_is_valid(win) then
      release(place, win)
    end
  end
  if left_ours and place.borrowed then
    windows.give_back(place.borrowed, place.left)
  elseif closed_left and place.borrowed and right_ours then
    windows.give_back(place.borrowed, place.right)
    right_ours = false
  end
  if right_ours then
    close_window(place.right)
  end
  if left_ours and not place.borrowed then
    close_window(place.left)
  end
  if place.borrowed and api.nvim_buf_is_valid(place.borrowed.buf) then
    vim.bo[place.borrowed.buf].bufhidden = place.borrowed.bufhidden
  end
end

return M
