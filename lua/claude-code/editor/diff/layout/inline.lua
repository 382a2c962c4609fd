--- One window in the file's place with the proposal; what it deletes shows as virtual lines.
local api, fn = vim.api, vim.fn
local marks = require("claude-code.editor.diff.inline.marks")
local own_tab = require("claude-code.editor.diff.tab")
local shots = require("claude-code.editor.windows.layout")
local windows = require("claude-code.editor.windows")

---What we change in the window.
local OPTIONS = { "foldenable", "winbar" }

---@class claude-code.InlinePlace : claude-code.DiffPlace
---@field win integer
---@field borrowed? claude-code.BorrowedWindow what `win` showed; nil if the window is ours
---@field spare? integer takes the place of `win`, which the person closes just now
---@field left? boolean the person was in `win` when it closed
---@field group? integer autocommands, until the layout closes: `:wq` decides first and quits then

local M = {}

---There is always room.
---@return boolean
function M.fits()
  return true
end

---@param session claude-code.Diff
---@param except? integer
---@return claude-code.InlinePlace
function M.open(session, except)
  local shot = shots.save()
  local win, borrowed
  if windows.has_diff() and not windows.for_file(session.target, except) then
    win = own_tab.open(session.new_buf)
  else
    win, borrowed = windows.take(session.new_buf, session.target, except)
  end
  local place = { shot = shot, win = win, focus = win, borrowed = borrowed, windows = { win } }
  session.place = place
  vim.wo[win][0].winfixbuf = false
  vim.wo[win][0].foldenable = false
  api.nvim_win_set_cursor(win, { marks.first_line(session), 0 })
  marks.show(session)
  M.reveal(session)
  return place
end

---@param session claude-code.Diff
function M.refresh(session)
  marks.show(session)
end

---Neovim scrolls no further up than to the first line: lines above that one need a nudge.
---@param session claude-code.Diff
function M.reveal(session)
  local place = session.place --[[@as claude-code.InlinePlace]]
  local above = marks.above_first(session)
  api.nvim_win_call(place.win, function()
    if above > 0 and fn.line(".") == 1 then
      local room = api.nvim_win_get_height(place.win) - 1
      fn.winrestview({ topline = 1, topfill = math.max(0, math.min(above, room)) })
    end
  end)
end

---@param session claude-code.Diff
---@return boolean
function M.intact(session)
  local place = session.place --[[@as claude-code.InlinePlace]]
  return api.nvim_win_is_valid(place.win) and api.nvim_win_get_buf(place.win) == session.new_buf
end

---The person's own window must not go with the diff (nor Neovim, if it is the last): before it
---closes, another one takes its place.
---@param place claude-code.InlinePlace
local function make_spare(place)
  if not place.borrowed or place.spare or not windows.reload(place.borrowed) then
    return
  end
  place.left = api.nvim_get_current_win() == place.win
  pcall(windows.noautocmd, function()
    local height = math.max(1, math.floor(api.nvim_win_get_height(place.win) / 2))
    local spot = { win = place.win, split = "below", height = height }
    place.spare = api.nvim_open_win(place.borrowed.buf, false, spot)
  end)
end

---@param place claude-code.InlinePlace
local function close_spare(place)
  if place.spare and api.nvim_win_is_valid(place.spare) then
    windows.close(place.spare)
  end
  place.spare = nil
end

---@param session claude-code.Diff
local function drop_needless_spare(session)
  local place = session.place --[[@as claude-code.InlinePlace?]]
  if place and place.spare and M.intact(session) then
    pcall(windows.noautocmd, function()
      close_spare(place)
    end)
  end
end

---@param session claude-code.Diff
function M.attach(session)
  local place = session.place --[[@as claude-code.InlinePlace]]
  place.group = api.nvim_create_augroup("claude-code.diff.inline", { clear = true })
  api.nvim_create_autocmd("QuitPre", {
    group = place.group,
    buffer = session.new_buf,
    callback = function()
      make_spare(place)
      -- The :quit may have failed.
      vim.schedule(function()
        drop_needless_spare(session)
      end)
    end,
  })
  api.nvim_create_autocmd("WinScrolled", {
    group = place.group,
    callback = function()
      if session:is_shown() then
        marks.colour(session)
      end
    end,
  })
  api.nvim_create_autocmd("WinClosed", {
    group = place.group,
    pattern = tostring(place.win),
    callback = function()
      -- With `:only` in another window it goes with the others.
      if api.nvim_get_current_win() == place.win or windows.is_last(place.win) then
        make_spare(place)
      end
    end,
  })
end

---@param session claude-code.Diff
function M.close(session)
  local place = session.place --[[@as claude-code.InlinePlace]]
  local borrowed = place.borrowed
  if place.group then
    pcall(api.nvim_del_augroup_by_id, place.group)
  end
  if api.nvim_win_is_valid(place.win) then
    close_spare(place)
  end
  if M.intact(session) then
    if borrowed then
      windows.give_back(borrowed, place.win)
    else
      windows.close(place.win)
    end
  elseif api.nvim_win_is_valid(place.win) then
    windows.release(place.win, borrowed, OPTIONS)
  elseif borrowed and place.spare and api.nvim_win_is_valid(place.spare) then
    windows.give_back(borrowed, place.spare)
    if place.left then
      api.nvim_set_current_win(place.spare)
    end
  end
  windows.restore_bufhidden(borrowed)
end

return M
