--- The window of Claude's terminal: where it opens, and how it closes. A floating one over the files closes when the
--- cursor goes to a window below it, as for a diff, which it would cover.
local api = vim.api
local layout = require("claude-code.editor.windows.layout")
local placement = require("claude-code.terminal.providers.placement")
local windows = require("claude-code.editor.windows")

local M = {
  --- The terminal's 'filetype'.
  FILETYPE = "claude-code-terminal",
}

local events = require("claude-code.lib.autocommands").new("terminal.window")

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

local function set_options(win)
  windows.set_options(win, OPTIONS)
  -- To M.keep, it is the terminal's until it is given back.
  vim.w[win].claude_code_terminal = true
end

local function open_split(buf, enter, position, cells)
  local restore_others = layout.keep_sizes()
  local dimension, split = placement.dimension(position), SPLITS[position]
  local win = api.nvim_open_win(buf, enter, { split = split, win = -1, [dimension] = cells })
  set_options(win)
  api.nvim_set_option_value("winfix" .. dimension, true, { win = win, scope = "local" })
  -- TODO(0.10): it makes all windows equal in spite of the size it was given.
  placement.set(win, dimension, cells)
  placement.equalize_others(dimension)
  local notice = placement.follow(win, M.is_terminal, dimension)
  events:on("WinClosed", function()
    if M.is_terminal(win) then
      notice()
      vim.schedule(restore_others)
    end
  end, { pattern = tostring(win), once = true })
  return win
end

local function geometry()
  local share = placement.share()
  local columns, lines = vim.o.columns, vim.o.lines - vim.o.cmdheight
  -- Two cells are for the border.
  local width = math.max(1, math.floor(columns * share) - 2)
  local height = math.max(1, math.floor(lines * share) - 2)
  return {
    relative = "editor",
    width = width,
    height = height,
    row = math.floor((lines - height - 2) / 2),
    col = math.floor((columns - width - 2) / 2),
    -- Neovim 0.10 has no 'winborder'.
    border = (vim.fn.exists("+winborder") == 0 or vim.o.winborder == "") and "rounded" or nil,
  }
end

--- Hides the window when the user goes to one below it. A window that they only pass by does not count.
---@param win integer
---@param hide fun()
function M.hide_when_left(win, hide)
  placement.while_open(win, { "WinEnter", "CursorMoved", "ModeChanged" }, function()
    vim.schedule(function()
      local here = api.nvim_get_current_win()
      if api.nvim_win_is_valid(win) and here ~= win and not windows.is_floating(here) then
        hide()
      end
    end)
  end)
end

local function open_float(buf)
  local win = api.nvim_open_win(buf, true, geometry())
  set_options(win)
  placement.while_open(win, "VimResized", function()
    api.nvim_win_set_config(win, geometry())
  end)
  M.hide_when_left(win, function()
    api.nvim_win_close(win, true)
  end)
  return win
end

local function open(buf)
  local position = placement.position()
  if position == "float" then
    return open_float(buf)
  end
  return open_split(buf, true, position, placement.wanted(placement.dimension(position)))
end

--- Shows another buffer where the window is the only one.
local function close_or_switch(win)
  if pcall(api.nvim_win_close, win, true) then
    return
  end
  local buf = windows.buffer_before(win, true)
  if buf then
    api.nvim_win_set_buf(win, buf)
  else
    api.nvim_win_call(win, vim.cmd.enew)
  end
  -- These belong to the window; all else changes with the buffer.
  vim.wo[win].winfixwidth, vim.wo[win].winfixheight = false, false
  vim.w[win].claude_code_terminal = nil
end

---@param buf integer
---@return integer? win that shows it in this tab page
function M.find(buf)
  local win = vim.fn.bufwinid(buf)
  return win ~= -1 and win or nil
end

---@param win integer
---@return boolean does it show Claude's terminal, whichever provider it is of?
function M.is_terminal(win)
  return vim.b[api.nvim_win_get_buf(win)].claude_code_terminal == true
end

---@return integer? win of this tab page that shows any session's terminal
local function find_any(tab)
  return vim.iter(api.nvim_tabpage_list_wins(tab)):find(M.is_terminal)
end

--- Shows the terminal in this tab page, too, if it is visible in `from`; a floating one would cover
--- what is here.
---@param from integer tab page
---@param fits fun(width: integer, height: integer): boolean is so much room for the others enough?
function M.mirror_to_tab(from, fits)
  local win = find_any(from)
  local position = placement.position()
  if not win or position == "float" then
    return
  end
  local dimension = placement.dimension(position)
  local cells = math.min(placement.wanted(dimension), placement.get(win, dimension))
  local room = { width = placement.get(0, "width"), height = placement.get(0, "height") }
  room[dimension] = room[dimension] - cells - 1
  if fits(room.width, room.height) then
    open_split(api.nvim_win_get_buf(win), false, position, cells)
  end
end

--- Rows that terminals have again once `take_back` is called, by their windows.
---@type table<integer, integer>
local yielded = {}

--- Gives a file at least half of the rows that it and the terminal below or above it have together.
---@param win? integer of the file, in this tab page
---@param reason? integer window: once it is closed, the terminal has its rows again; without one, by `take_back`
function M.yield_to(win, reason)
  local terminal = find_any(0)
  if not win or not terminal or api.nvim_win_get_width(terminal) < vim.o.columns then
    return
  end
  local before = vim.w[terminal].claude_code_yields
  if before and api.nvim_win_is_valid(before) then
    return
  end
  local own, sizes = api.nvim_win_get_height(terminal), layout.save()
  local both = own + api.nvim_win_get_height(win)
  local rows = math.min(own, math.floor(both / 2))
  -- All are set: what it yields might go to another neighbour.
  for _, saved in ipairs(sizes.windows) do
    saved.height = ({ [terminal] = rows, [win] = both - rows })[saved.win] or saved.height
  end
  vim.w[terminal].claude_code_yields = reason or 0
  yielded[terminal] = not reason and own or nil
  layout.restore_sizes(sizes)
end

--- Gives back the rows that a terminal has yielded to something that has gone.
function M.take_back()
  for terminal, rows in pairs(yielded) do
    if api.nvim_win_is_valid(terminal) then
      vim.w[terminal].claude_code_yields = nil
      placement.set(terminal, "height", rows)
    end
  end
  yielded = {}
end

--- Shows the terminal in this tab page, in the place of another session's, and moves there. It is
--- nowhere else then: it can have only one placement. A diff's tab page (it has the variable
--- `claude_code_diff`) closes by itself, so there the terminal also stays where it was.
---@param buf integer
---@return integer win
function M.show(buf)
  local win = M.find(buf)
  if not win and not vim.t.claude_code_diff then
    M.hide(buf)
  end
  win = win or find_any(0)
  if not win then
    return open(buf)
  end
  api.nvim_set_current_win(win)
  if api.nvim_win_get_buf(win) ~= buf then
    vim.cmd.buffer({ buf, mods = { keepalt = true } })
    set_options(win)
  end
  return win
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

--- Shows another session's terminal in the windows of one that ends, unless that is shown elsewhere.
---@param buf integer
---@param other integer
function M.replace(buf, other)
  if #vim.fn.win_findbuf(other) > 0 then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    windows.show(win, other)
    set_options(win)
  end
end

--- What the user opens in a window of the terminal (`:edit`, `:buffer`) goes to one for files, and the terminal stays.
---@param buf integer
---@param is_open fun(): boolean does its command run?
function M.keep(buf, is_open)
  events:on("BufLeave", function()
    local win = api.nvim_get_current_win()
    local is_meant = vim.g.SessionLoad == 1
    vim.schedule(function()
      local is_kept = api.nvim_win_is_valid(win) and vim.w[win].claude_code_terminal
      if not is_kept or M.is_terminal(win) or is_meant or not is_open() then
        return
      end
      local other, view = api.nvim_win_get_buf(win), api.nvim_win_call(win, vim.fn.winsaveview)
      windows.show(win, buf)
      require("claude-code.editor.open_file").bring_to_front(other)
      vim.fn.winrestview(view)
    end)
  end, { buffer = buf })
end

return M
