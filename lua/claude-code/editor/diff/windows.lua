--- The person's windows: which of them a diff may use, and how they looked before.
local api, fn = vim.api, vim.fn

local M = {}

---@class claude-code.WindowShot all windows of one tab page
---@field tab integer
---@field win integer the current window
---@field previous integer the one CTRL-W p leads to, 0 if none
---@field layout any winlayout()
---@field room integer lines there are for windows
---@field sizes string winrestcmd()
---@field views table<integer, { buf: integer, view: vim.fn.winsaveview.ret }>

---@class claude-code.WindowUse a window whose buffer was replaced for a while
---@field win integer
---@field buf integer
---@field view vim.fn.winsaveview.ret
---@field options table<string, any>
---@field bufhidden string the buffer's own

---Runs `work` without any autocommand. Errors are passed on.
---@param work fun()
function M.quietly(work)
  local ignored = vim.o.eventignore
  vim.o.eventignore = "all"
  local ok, message = xpcall(work, debug.traceback)
  vim.o.eventignore = ignored
  if not ok then
    error(message, 0)
  end
end

---@param win integer
---@return boolean
function M.is_floating(win)
  return api.nvim_win_get_config(win).relative ~= ""
end

---@param win integer
---@param name string
---@return any value of the window's own option
local function option(win, name)
  return api.nvim_get_option_value(name, { win = win })
end

---Is this a window for editing files, and nobody's special one (terminal, tree, quickfix, float,
---preview, another plugin's diff, pinned to its buffer)?
---@param win integer
---@return boolean
function M.is_normal(win)
  return api.nvim_win_is_valid(win)
    and not M.is_floating(win)
    and vim.bo[api.nvim_win_get_buf(win)].buftype == ""
    and not option(win, "previewwindow")
    and not option(win, "diff")
    and not option(win, "winfixbuf")
end

---@param win integer
---@return integer cells
local function area(win)
  return api.nvim_win_get_width(win) * api.nvim_win_get_height(win)
end

---Windows of the current tab page, the first choice first: current, previous, then the largest.
---@param accept fun(win: integer): boolean
---@return integer[]
function M.candidates(accept)
  local first = { [api.nvim_get_current_win()] = 2, [fn.win_getid(fn.winnr("#"))] = 1 }
  local wins = vim.tbl_filter(accept, api.nvim_tabpage_list_wins(0))
  table.sort(wins, function(a, b)
    local rank_a, rank_b = first[a] or 0, first[b] or 0
    if rank_a ~= rank_b then
      return rank_a > rank_b
    end
    local area_a, area_b = area(a), area(b)
    return area_a ~= area_b and area_a > area_b or area_a == area_b and a < b
  end)
  return wins
end

---The window to show a file in: one that shows `buf` already, else the best normal one.
---@param buf integer?
---@param except integer? window to leave alone
---@return integer? win
function M.for_file(buf, except)
  local wins = M.candidates(function(win)
    return win ~= except and M.is_normal(win)
  end)
  for _, win in ipairs(wins) do
    if buf and api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
  return wins[1]
end

---A new window for `buf` beside the special ones, with the global options rather than theirs.
---@param buf integer
---@return integer win
function M.beside(buf)
  local largest = M.candidates(function(win)
    return not M.is_floating(win)
  end)
  table.sort(largest, function(a, b)
    return area(a) > area(b)
  end)
  local anchor = largest[1]
  local width, height = api.nvim_win_get_width(anchor), api.nvim_win_get_height(anchor)
  local place = width >= 160 and { split = "left", width = math.floor(width * 2 / 3) }
    or { split = "above", height = math.floor(height * 2 / 3) }
  place.win = anchor
  local win = api.nvim_open_win(buf, false, place)
  M.apply_options(win, M.global_options())
  return win
end

---A tab page of its own for `buf`, entered.
---@param buf integer
---@return integer win
function M.new_tab(buf)
  vim.cmd(("tab sbuffer %d"):format(buf))
  local win = api.nvim_get_current_win()
  M.apply_options(win, M.global_options())
  return win
end

---@return string[] names of all options that belong to a window, except those we never touch
local function window_options()
  local names = {}
  for name, info in pairs(api.nvim_get_all_options_info()) do
    if info.scope == "win" and name ~= "scroll" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

---@return table<string, any>
function M.global_options()
  local values = {}
  for _, name in ipairs(window_options()) do
    values[name] = api.nvim_get_option_value(name, { scope = "global" })
  end
  values.diff, values.scrollbind, values.cursorbind, values.winfixbuf = false, false, false, false
  return values
end

---@param win integer
---@return table<string, any>
function M.options_of(win)
  local values = {}
  for _, name in ipairs(window_options()) do
    values[name] = api.nvim_get_option_value(name, { win = win, scope = "local" })
  end
  return values
end

---Sets what differs, for this window only.
---@param win integer
---@param values table<string, any>
function M.apply_options(win, values)
  for name, value in pairs(values) do
    local where = { win = win, scope = "local" }
    if api.nvim_get_option_value(name, where) ~= value then
      pcall(api.nvim_set_option_value, name, value, where)
    end
  end
end

---@return integer lines there are for windows: the tab line comes and goes with tab pages
function M.room()
  local tabline = vim.o.showtabline
  local has_tabline = tabline == 2 or (tabline == 1 and #api.nvim_list_tabpages() > 1)
  return vim.o.lines - vim.o.cmdheight - (has_tabline and 1 or 0)
end

---Does another plugin (or the person) compare something in this tab page? All windows in diff mode
---of a tab page are compared with each other, so ours must not be among them.
---@return boolean
function M.has_diff()
  return vim.iter(api.nvim_tabpage_list_wins(0)):any(function(win)
    return option(win, "diff")
  end)
end

---@return claude-code.WindowShot
function M.shot()
  local views = {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    views[win] = { buf = api.nvim_win_get_buf(win), view = api.nvim_win_call(win, fn.winsaveview) }
  end
  return {
    tab = api.nvim_get_current_tabpage(),
    win = api.nvim_get_current_win(),
    previous = fn.win_getid(fn.winnr("#")),
    layout = fn.winlayout(),
    room = M.room(),
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
function M.resize_back(shot)
  if not api.nvim_tabpage_is_valid(shot.tab) then
    return
  end
  local number = api.nvim_tabpage_get_number(shot.tab)
  if M.room() ~= shot.room or not vim.deep_equal(fn.winlayout(number), shot.layout) then
    return
  end
  api.nvim_win_call(api.nvim_tabpage_get_win(shot.tab), function()
    vim.cmd(shot.sizes)
  end)
  for win, seen in pairs(shot.views) do
    scroll_back(win, seen)
  end
end

---Shows a buffer in a window, leaving alternate file and jump list alone.
---@param win integer
---@param buf integer
function M.show(win, buf)
  api.nvim_win_call(win, function()
    vim.cmd(("keepalt keepjumps buffer %d"):format(buf))
  end)
end

---Shows `buf` in a window for a while. What was there is kept even with 'nohidden' or 'bufhidden'.
---@param win integer
---@param buf integer
---@return claude-code.WindowUse
function M.borrow(win, buf)
  local before = api.nvim_win_get_buf(win)
  local use = {
    win = win,
    buf = before,
    view = api.nvim_win_call(win, fn.winsaveview),
    options = M.options_of(win),
    bufhidden = vim.bo[before].bufhidden,
  }
  vim.bo[before].bufhidden = "hide"
  local ok, message = pcall(M.show, win, buf)
  if not ok then
    vim.bo[before].bufhidden = use.bufhidden
    error(message, 0)
  end
  return use
end

---Gives a borrowed window back, or lets `win` take its place.
---@param use claude-code.WindowUse
---@param win integer
function M.give_back(use, win)
  if not api.nvim_buf_is_valid(use.buf) then
    api.nvim_win_call(win, vim.cmd.enew)
    return
  end
  M.show(win, use.buf)
  M.apply_options(win, use.options)
  api.nvim_win_call(win, function()
    fn.winrestview(use.view)
  end)
end

return M
