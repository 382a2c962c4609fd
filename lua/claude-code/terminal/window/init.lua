--- The window of Claude's terminal: its place, its size, and how it closes.
local api = vim.api
local layout = require("claude-code.editor.windows.layout")
local windows = require("claude-code.editor.windows")

---@alias claude-code.Dimension "width"|"height"
---@alias claude-code.TerminalPosition "left"|"right"|"top"|"bottom"|"float"

local M = { FILETYPE = "claude-code-terminal" }

local events = require("claude-code.lib.autocommands").new("terminal.window")

--- Cells for Claude with position "auto"; the CLI (2.1.330) truncates its questions in a smaller terminal.
local MIN_FOR_CLAUDE = { width = 60, height = 12 }
--- Cells for the file beside it with position "auto".
local MIN_FOR_FILE = { width = 50, height = 8 }
--- Cells for the other windows with any position.
local MIN_FOR_OTHERS = { width = 10, height = 3 }

local SPLITS = { left = "left", right = "right", top = "above", bottom = "below" }

--- Line numbers, folds, signs and spelling make no sense in a terminal.
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

local chosen = {} ---@type table<claude-code.Dimension, integer?> cells that the user last gave the window

local function options()
  return require("claude-code.config").get().terminal
end

---@return claude-code.TerminalPosition
function M.position()
  local position = options().position
  if position ~= "auto" then
    return position
  end
  return vim.o.columns > MIN_FOR_CLAUDE.width + MIN_FOR_FILE.width and "right" or "bottom"
end

---@return claude-code.Dimension that a window at this position shares with others
function M.dimension(position)
  return (position == "left" or position == "right") and "width" or "height"
end

---@return number share of the editor's width or height; for a float, of both
function M.share()
  return options().size or options().position == "float" and 0.8 or 0.36
end

---@return integer cells
function M.size(dimension)
  local total = dimension == "width" and vim.o.columns or vim.o.lines - vim.o.cmdheight - 1
  local cells = chosen[dimension] or math.floor(total * M.share())
  if not chosen[dimension] and options().position == "auto" then
    local most = total - 1 - MIN_FOR_FILE[dimension]
    cells = math.max(cells, math.min(MIN_FOR_CLAUDE[dimension], most))
  end
  return math.max(1, math.min(cells, total - 1 - MIN_FOR_OTHERS[dimension]))
end

local get_size = { width = api.nvim_win_get_width, height = api.nvim_win_get_height }
local set_size = { width = api.nvim_win_set_width, height = api.nvim_win_set_height }

local function set_options(win)
  windows.set_options(win, OPTIONS)
  -- For M.keep.
  vim.w[win].claude_code_terminal = true
end

--- Calls back at these events until the window closes.
local function while_open(win, names, callback)
  api.nvim_create_autocmd(names, {
    callback = function()
      if not api.nvim_win_is_valid(win) then
        return true
      end
      callback()
    end,
  })
end

--- Remembers the size that the user gives the window, and fits the window to a screen that changes.
---@return fun() notice call it when the window closes
local function follow_size(win, dimension)
  local columns, lines, cells
  local function remember()
    columns, lines, cells = vim.o.columns, vim.o.lines, get_size[dimension](win)
  end
  local function is_same_screen()
    return columns == vim.o.columns and lines == vim.o.lines
  end
  local function has_terminal()
    local may_stay = options().position == "auto" or M.dimension(M.position()) == dimension
    -- The size of a lone window is not the user's choice. A closing tab page is already invalid.
    local ok, is_alone = pcall(windows.is_last, win)
    return M.is_terminal(win) and may_stay and ok and not is_alone
  end
  local function notice()
    local reason = vim.w[win].claude_code_yields
    if reason and not api.nvim_win_is_valid(reason) then
      vim.w[win].claude_code_yields = nil
      set_size[dimension](win, cells)
    elseif
      not reason
      and is_same_screen()
      and has_terminal()
      and get_size[dimension](win) ~= cells
    then
      remember()
      chosen[dimension] = cells
    end
  end
  local function fit()
    local is_here = vim.list_contains(api.nvim_tabpage_list_wins(0), win)
    if is_here and not is_same_screen() and has_terminal() then
      set_size[dimension](win, M.size(dimension))
      remember()
    end
  end
  remember()
  -- Windows of other tab pages get their sizes later, when the user enters the tab page.
  for event, callback in pairs({ WinResized = notice, VimResized = fit, TabEnter = fit }) do
    while_open(win, event, callback)
  end
  return notice
end

--- Gives the other windows equal sizes if 'equalalways' is set, as a manual split does.
local function equalize_others(dimension)
  local direction, before = dimension == "width" and "hor" or "ver", vim.o.eadirection
  if vim.o.equalalways and (before == "both" or before == direction) then
    -- Setting 'equalalways' makes windows equal in the direction of 'eadirection'.
    local mods = { noautocmd = true }
    vim.cmd.set({ "eadirection=" .. direction, "noequalalways", "equalalways", mods = mods })
    vim.cmd.set({ "eadirection=" .. before, mods = mods })
  end
end

local function open_split(buf, enter, position, cells)
  local restore_others = layout.keep_sizes()
  local dimension, split = M.dimension(position), SPLITS[position]
  local win = api.nvim_open_win(buf, enter, { split = split, win = -1, [dimension] = cells })
  set_options(win)
  api.nvim_set_option_value("winfix" .. dimension, true, { win = win, scope = "local" })
  -- TODO(0.10): nvim_open_win() makes all windows equal.
  set_size[dimension](win, cells)
  equalize_others(dimension)
  local notice = follow_size(win, dimension)
  events:on("WinClosed", function()
    if M.is_terminal(win) then
      notice()
      vim.schedule(restore_others)
    end
  end, { pattern = tostring(win), once = true })
  return win
end

local function float_config()
  local columns, lines, share = vim.o.columns, vim.o.lines - vim.o.cmdheight, M.share()
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

--- Hides a float when the user moves to a window below it, where it would cover a diff.
function M.hide_when_left(win, hide)
  while_open(win, { "WinEnter", "CursorMoved", "ModeChanged" }, function()
    vim.schedule(function()
      local here = api.nvim_get_current_win()
      if api.nvim_win_is_valid(win) and here ~= win and not windows.is_floating(here) then
        hide()
      end
    end)
  end)
end

local function open_float(buf)
  local win = api.nvim_open_win(buf, true, float_config())
  set_options(win)
  while_open(win, "VimResized", function()
    api.nvim_win_set_config(win, float_config())
  end)
  M.hide_when_left(win, function()
    api.nvim_win_close(win, true)
  end)
  return win
end

--- Closes the window, or shows another buffer if it is the only one.
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
  -- All other options change with the buffer.
  vim.wo[win].winfixwidth, vim.wo[win].winfixheight = false, false
  vim.w[win].claude_code_terminal = nil
end

---@return integer? win that shows it in this tab page
function M.find(buf)
  local win = vim.fn.bufwinid(buf)
  return win ~= -1 and win or nil
end

---@return boolean does the window show a terminal with Claude?
function M.is_terminal(win)
  return vim.b[api.nvim_win_get_buf(win)].claude_code_terminal == true
end

local function find_any(tab)
  return vim.iter(api.nvim_tabpage_list_wins(tab)):find(M.is_terminal)
end

--- Shows the terminal in this tab page, too, if it is in a split of `from`.
---@param from integer tab page
---@param fits fun(width: integer, height: integer): boolean do the other windows fit into this size?
function M.mirror_to_tab(from, fits)
  local win = find_any(from)
  local position = M.position()
  if not win or position == "float" then
    return
  end
  local dimension = M.dimension(position)
  local cells = math.min(M.size(dimension), get_size[dimension](win))
  local room = { width = get_size.width(0), height = get_size.height(0) }
  room[dimension] = room[dimension] - cells - 1
  if fits(room.width, room.height) then
    open_split(api.nvim_win_get_buf(win), false, position, cells)
  end
end

local yielded = {} ---@type table<integer, integer> rows that `take_back` restores, by the terminals' windows

--- Gives a file at least half of the rows that it shares with the terminal below or above it.
---@param win? integer of the file, in this tab page
---@param reason? integer window; when it closes, the terminal gets its rows back. Otherwise `take_back` does it.
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
  -- Setting all heights keeps the yielded rows from another neighbour.
  for _, saved in ipairs(sizes.windows) do
    saved.height = ({ [terminal] = rows, [win] = both - rows })[saved.win] or saved.height
  end
  vim.w[terminal].claude_code_yields = reason or 0
  yielded[terminal] = not reason and own or nil
  layout.restore_sizes(sizes)
end

function M.take_back()
  for terminal, rows in pairs(yielded) do
    if api.nvim_win_is_valid(terminal) then
      vim.w[terminal].claude_code_yields = nil
      set_size.height(terminal, rows)
    end
  end
  yielded = {}
end

--- Shows the terminal in this tab page, in place of another session's, and moves the cursor there. Closes its windows
--- in other tab pages, since a terminal has one size, unless this is the temporary tab page of a diff.
---@return integer win
function M.show(buf)
  local win = M.find(buf)
  if not win and not vim.t.claude_code_diff then
    M.hide(buf)
  end
  win = win or find_any(0)
  if not win then
    local position = M.position()
    return position == "float" and open_float(buf)
      or open_split(buf, true, position, M.size(M.dimension(position)))
  end
  api.nvim_set_current_win(win)
  if api.nvim_win_get_buf(win) ~= buf then
    vim.cmd.buffer({ buf, mods = { keepalt = true } })
    set_options(win)
  end
  return win
end

--- Closes the terminal's windows. Then moves the cursor back to the window it came from; earlier, 'winwidth' would
--- resize the terminal.
function M.hide(buf)
  local from = api.nvim_get_current_buf() == buf and vim.fn.win_getid(vim.fn.winnr("#")) or 0
  vim.iter(vim.fn.win_findbuf(buf)):each(close_or_switch)
  if from ~= 0 and api.nvim_win_is_valid(from) then
    api.nvim_set_current_win(from)
  end
end

--- Shows another session's terminal in the windows of one that ends, unless the other is already visible.
function M.replace(buf, other)
  if #vim.fn.win_findbuf(other) > 0 then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    windows.show(win, other)
    set_options(win)
  end
end

--- Moves a buffer that the user opens in the terminal's window (`:edit`, `:buffer`) to a window for files.
function M.keep(buf)
  local is_running = require("claude-code.terminal.window.buffer").is_running
  events:on("BufLeave", function()
    local win = api.nvim_get_current_win()
    local is_meant = vim.g.SessionLoad == 1
    vim.schedule(function()
      local is_kept = api.nvim_win_is_valid(win) and vim.w[win].claude_code_terminal
      if not is_kept or M.is_terminal(win) or is_meant or not is_running(buf) then
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
