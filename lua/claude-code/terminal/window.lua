--- The window of Neovim's own terminal: where it opens, how big it is, and what the other windows
--- get back when it closes.
local api = vim.api
local placement = require("claude-code.terminal.placement")

local M = {
  --- The terminal's 'filetype'.
  FILETYPE = "claude-code-terminal",
}

local SPLITS = { left = "left", right = "right", top = "above", bottom = "below" }

--- Nothing in here is numbered, folded or spelled.
local OPTIONS = {
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  statuscolumn = "",
  cursorline = false,
  list = false,
  spell = false,
  wrap = true,
}

--- Cells that the user last gave the window.
---@type table<claude-code.Dimension, integer?>
local chosen = {}

---@param win integer
---@param dimension claude-code.Dimension
---@return integer cells
local function get_size(win, dimension)
  return api["nvim_win_get_" .. dimension](win)
end

---@param win integer
---@param dimension claude-code.Dimension
---@param cells integer
local function set_size(win, dimension, cells)
  api["nvim_win_set_" .. dimension](win, cells)
end

---@param dimension claude-code.Dimension
---@return integer cells
local function wanted_size(dimension)
  return placement.size(dimension, chosen[dimension])
end

---@param tab integer
---@return integer[] windows that do not float
local function normal_windows(tab)
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_config(win).relative == ""
  end, api.nvim_tabpage_list_wins(tab))
end

--- Is it the only window of its tab page? One that is alone has all the room, whatever the user
--- wants. A tab page that is closing is gone already.
---@param win integer
---@return boolean
local function is_alone(win)
  local ok, tab = pcall(api.nvim_win_get_tabpage, win)
  return not ok or not api.nvim_tabpage_is_valid(tab) or #normal_windows(tab) < 2
end

--- Remembers the size that the user gives the window, and fits it to a screen that changes.
---@param win integer
---@param buf integer the terminal; the window may show something else later
---@param dimension claude-code.Dimension
---@return fun() notice called when the window closes
local function follow_size(win, buf, dimension)
  local columns, lines, cells
  local function remember()
    columns, lines, cells = vim.o.columns, vim.o.lines, get_size(win, dimension)
  end
  local function is_same_screen()
    return columns == vim.o.columns and lines == vim.o.lines
  end
  local function has_terminal()
    return api.nvim_win_get_buf(win) == buf and placement.allows(dimension) and not is_alone(win)
  end
  local function notice()
    if is_same_screen() and has_terminal() and get_size(win, dimension) ~= cells then
      remember()
      chosen[dimension] = cells
    end
  end
  local function fit()
    local is_here = vim.list_contains(api.nvim_tabpage_list_wins(0), win)
    if is_here and not is_same_screen() and has_terminal() then
      set_size(win, dimension, wanted_size(dimension))
      remember()
    end
  end
  remember()
  -- The windows of other tab pages get their sizes when these are entered.
  for event, callback in pairs({ WinResized = notice, VimResized = fit, TabEnter = fit }) do
    api.nvim_create_autocmd(event, {
      callback = function()
        if not api.nvim_win_is_valid(win) then
          return true
        end
        callback()
      end,
    })
  end
  return notice
end

--- By window IDs: winrestcmd() numbers windows, floating ones included, which come and go.
---@return fun() restore does nothing once there are other windows, or another screen
local function save_sizes()
  local function layout()
    local tab = api.nvim_get_current_tabpage()
    return { tab, vim.o.columns, vim.o.lines - vim.o.cmdheight, normal_windows(tab) }
  end
  local before = layout()
  local sizes = vim.tbl_map(function(win)
    return { width = get_size(win, "width"), height = get_size(win, "height") }
  end, before[4])
  return function()
    -- Twice, as winrestcmd() does: setting one window's size may change that of another.
    for _ = 1, vim.deep_equal(layout(), before) and 2 or 0 do
      for index, win in ipairs(before[4]) do
        set_size(win, "height", sizes[index].height)
        set_size(win, "width", sizes[index].width)
      end
    end
  end
end

---@param win integer
local function set_options(win)
  for name, value in pairs(OPTIONS) do
    api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
end

--- As after a split by hand: with 'equalalways' the other windows share the room that is left.
---@param dimension claude-code.Dimension
local function equalize_others(dimension)
  local direction = dimension == "width" and "hor" or "ver"
  local before = vim.o.eadirection
  if vim.o.equalalways and (before == "both" or before == direction) then
    -- Setting it makes all equal, in the direction named.
    vim.cmd(("noautocmd set eadirection=%s noequalalways equalalways"):format(direction))
    vim.cmd(("noautocmd set eadirection=%s"):format(before))
  end
end

---@param buf integer
---@param enter boolean
---@param position claude-code.Position
---@param cells integer
---@return integer win
local function open_split(buf, enter, position, cells)
  local restore_others = save_sizes()
  local dimension, split = placement.dimension(position), SPLITS[position]
  local win = api.nvim_open_win(buf, enter, { split = split, win = -1, [dimension] = cells })
  set_options(win)
  api.nvim_set_option_value("winfix" .. dimension, true, { win = win, scope = "local" })
  -- TODO(0.10): it makes all windows equal in spite of the size it was given.
  set_size(win, dimension, cells)
  equalize_others(dimension)
  local notice = follow_size(win, buf, dimension)
  api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(win),
    once = true,
    callback = function()
      if api.nvim_win_get_buf(win) == buf then
        notice()
        vim.schedule(restore_others)
      end
    end,
  })
  return win
end

---@param buf integer
---@return integer win
local function open(buf)
  local position = placement.position()
  if position == "float" then
    local win = require("claude-code.terminal.float").open(buf)
    set_options(win)
    return win
  end
  return open_split(buf, true, position, wanted_size(placement.dimension(position)))
end

--- What the window showed before: its alternate buffer, or the one used last.
---@param win integer
---@return integer? buf nil if there is none but the terminal
local function buffer_before(win)
  local alternate = api.nvim_win_call(win, function()
    return vim.fn.bufnr("#")
  end)
  local here, newest = api.nvim_win_get_buf(win), nil
  for _, info in ipairs(vim.fn.getbufinfo({ buflisted = 1 })) do
    if info.bufnr == alternate then
      return alternate
    elseif info.bufnr ~= here and (not newest or info.lastused > newest.lastused) then
      newest = info
    end
  end
  return newest and newest.bufnr
end

--- Shows another buffer where the window is the only one.
---@param win integer
local function close_or_switch(win)
  if pcall(api.nvim_win_close, win, true) then
    return
  end
  local buf = buffer_before(win)
  if buf then
    api.nvim_win_set_buf(win, buf)
  else
    api.nvim_win_call(win, vim.cmd.enew)
  end
  -- These belong to the window; all else changes with the buffer.
  vim.wo[win].winfixwidth, vim.wo[win].winfixheight = false, false
end

---@param buf integer
---@return integer? win that shows it in this tab page
function M.find(buf)
  return vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
    return api.nvim_win_get_buf(win) == buf
  end)
end

---@param win integer
---@return boolean
function M.is_terminal(win)
  return vim.bo[api.nvim_win_get_buf(win)].filetype == M.FILETYPE
end

--- Shows the terminal in this tab page, too, if it is visible in `from`; a floating one would cover
--- what is here.
---@param from integer tab page
---@param fits? fun(width: integer, height: integer): boolean is so much room for the others enough?
function M.mirror_to_tab(from, fits)
  local win = vim.iter(api.nvim_tabpage_list_wins(from)):find(M.is_terminal)
  local position = placement.position()
  if not win or position == "float" then
    return
  end
  local dimension = placement.dimension(position)
  local cells = wanted_size(dimension)
  local room = { width = api.nvim_win_get_width(0), height = api.nvim_win_get_height(0) }
  room[dimension] = room[dimension] - cells - 1
  if not fits or fits(room.width, room.height) then
    open_split(api.nvim_win_get_buf(win), false, position, cells)
  end
end

--- Shows the terminal in this tab page and moves there. It is nowhere else then: it can have only
--- one size. A diff's tab page (it has the variable `claude_code_diff`) closes by itself, so there
--- the terminal also stays where it was.
---@param buf integer
---@return integer win
function M.show(buf)
  local win = M.find(buf)
  if win then
    api.nvim_set_current_win(win)
    return win
  end
  if not vim.t.claude_code_diff then
    M.hide(buf)
  end
  return open(buf)
end

--- A user who is in it goes back to the window they came from. That is entered once there is room for
--- it: 'winwidth' would take the room from the terminal.
---@param buf integer
function M.hide(buf)
  local from = api.nvim_get_current_buf() == buf and vim.fn.win_getid(vim.fn.winnr("#")) or 0
  vim.iter(vim.fn.win_findbuf(buf)):each(close_or_switch)
  if from ~= 0 and api.nvim_win_is_valid(from) then
    api.nvim_set_current_win(from)
  end
end

--- Takes the terminal out of its windows and leaves them open.
---@param buf integer
function M.replace_buffer(buf)
  local empty = api.nvim_create_buf(false, true)
  vim.bo[empty].bufhidden = "wipe"
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_set_buf(win, empty)
  end
end

return M
