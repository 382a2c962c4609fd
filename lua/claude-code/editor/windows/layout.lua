--- How the windows of a tab page looked before a diff: their sizes and what they showed.
local api, fn = vim.api, vim.fn

---@class claude-code.WindowShot all windows of one tab page
---@field tab integer
---@field win integer the current window
---@field previous integer the one CTRL-W p leads to, 0 if none
---@field layout any winlayout()
---@field room integer lines there are for windows
---@field sizes string winrestcmd()
---@field views table<integer, { buf: integer, view: vim.fn.winsaveview.ret }>

local M = {}

---@return integer lines there are for windows: the tab line comes and goes with tab pages
local function room()
  local tabline = vim.o.showtabline
  local has_tabline = tabline == 2 or (tabline == 1 and #api.nvim_list_tabpages() > 1)
  return vim.o.lines - vim.o.cmdheight - (has_tabline and 1 or 0)
end

---@return claude-code.WindowShot
function M.take()
  local views = {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    views[win] = { buf = api.nvim_win_get_buf(win), view = api.nvim_win_call(win, fn.winsaveview) }
  end
  return {
    tab = api.nvim_get_current_tabpage(),
    win = api.nvim_get_current_win(),
    previous = fn.win_getid(fn.winnr("#")),
    layout = fn.winlayout(),
    room = room(),
    sizes = fn.winrestcmd(),
    views = views,
  }
end

---@param win integer
---@param seen { buf: integer, view: vim.fn.winsaveview.ret }
local function scroll_back(win, seen)
  if
    not api.nvim_win_is_valid(win)
    or api.nvim_win_get_buf(win) ~= seen.buf
    or vim.bo[seen.buf].buftype == "terminal"
  then
    return
  end
  local row, col = unpack(api.nvim_win_get_cursor(win))
  if row == seen.view.lnum and col == seen.view.col then
    api.nvim_win_call(win, function()
      fn.winrestview(seen.view)
    end)
  end
end

---Sizes and scroll positions as they were, unless the person opened or closed windows meanwhile.
---A window whose cursor moved keeps its view.
---@param shot claude-code.WindowShot
function M.restore(shot)
  if not api.nvim_tabpage_is_valid(shot.tab) then
    return
  end
  local number = api.nvim_tabpage_get_number(shot.tab)
  if room() ~= shot.room or not vim.deep_equal(fn.winlayout(number), shot.layout) then
    return
  end
  api.nvim_win_call(api.nvim_tabpage_get_win(shot.tab), function()
    vim.cmd(shot.sizes)
  end)
  for win, seen in pairs(shot.views) do
    scroll_back(win, seen)
  end
end

return M
