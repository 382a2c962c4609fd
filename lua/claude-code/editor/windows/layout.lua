--- Saves and restores the sizes and views of the windows in a tab page.
local api, fn = vim.api, vim.fn

---@class claude-code.SavedLayout
---@field tab integer
---@field previous integer window that CTRL-W p leads to, or 0
---@field tree string winlayout() as JSON
---@field lines integer available to windows
---@field windows { win: integer, buf: integer, width: integer, height: integer, view: vim.fn.winsaveview.ret }[]

local M = {}

local function lines_for_windows()
  local tabline = vim.o.showtabline
  local has_tabline = tabline == 2 or (tabline == 1 and #api.nvim_list_tabpages() > 1)
  return vim.o.lines - vim.o.cmdheight - (has_tabline and 1 or 0)
end

---@return claude-code.SavedLayout of the current tab page
function M.save()
  local windows = {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_config(win).relative == "" then
      windows[#windows + 1] = {
        win = win,
        buf = api.nvim_win_get_buf(win),
        width = api.nvim_win_get_width(win),
        height = api.nvim_win_get_height(win),
        view = api.nvim_win_call(win, fn.winsaveview),
      }
    end
  end
  return {
    tab = api.nvim_get_current_tabpage(),
    previous = fn.win_getid(fn.winnr("#")),
    tree = vim.json.encode(fn.winlayout()),
    lines = lines_for_windows(),
    windows = windows,
  }
end

---Replaces a closed window with the one that has taken its place.
function M.replace(layout, gone, instead)
  layout.tree = layout.tree:gsub(("%%f[%%d]%d%%f[%%D]"):format(gone), tostring(instead))
  layout.previous = layout.previous == gone and instead or layout.previous
  for _, saved in ipairs(layout.windows) do
    saved.win = saved.win == gone and instead or saved.win
  end
end

---Restores sizes, unless windows were opened or closed since.
---@return boolean restored
function M.restore_sizes(layout)
  local tab = layout.tab
  local tree = api.nvim_tabpage_is_valid(tab) and fn.winlayout(api.nvim_tabpage_get_number(tab))
  if lines_for_windows() ~= layout.lines or vim.json.encode(tree) ~= layout.tree then
    return false
  end
  api.nvim_win_call(api.nvim_tabpage_get_win(tab), function()
    -- winrestcmd() would use window numbers, which floats change. Like winrestcmd(), set sizes twice, since one size
    -- may change another.
    for _ = 1, 2 do
      for _, saved in ipairs(layout.windows) do
        api.nvim_win_set_height(saved.win, saved.height)
        api.nvim_win_set_width(saved.win, saved.width)
      end
    end
  end)
  return true
end

---@return fun() restore the current sizes in this tab page, unless the width of the screen has changed
function M.keep_sizes()
  local layout, columns = M.save(), vim.o.columns
  return function()
    if vim.o.columns == columns then
      M.restore_sizes(layout)
    end
  end
end

---Restores sizes, and views if the cursor has not moved, unless windows were opened or closed.
function M.restore(layout)
  for _, saved in ipairs(M.restore_sizes(layout) and layout.windows or {}) do
    local win, row, col = saved.win, unpack(api.nvim_win_get_cursor(saved.win))
    local is_same = api.nvim_win_get_buf(win) == saved.buf
      and row == saved.view.lnum
      and col == saved.view.col
    if is_same and vim.bo[saved.buf].buftype ~= "terminal" then
      api.nvim_win_call(win, function()
        fn.winrestview(saved.view)
      end)
    end
  end
end

return M
