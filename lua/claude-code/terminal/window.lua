--- The window of Neovim's own terminal: where it opens, how big it is, what comes back when it
--- closes.
local api = vim.api
local size = require("claude-code.terminal.size")

local M = {
  --- The terminal's 'filetype'.
  FILETYPE = "claude-code-terminal",
}

local SPLITS = { left = "left", right = "right", top = "above", bottom = "below" }

--- Nothing in here is numbered, folded or spelled, and it keeps its size beside other windows.
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

--- The other windows of a tab page, before ours came.
---@class claude-code.TerminalShot
---@field tab integer
---@field wins integer[]
---@field room string
---@field sizes string winrestcmd()

---@return integer[] normal windows of the current tab page
local function normal_windows()
  return vim.tbl_filter(function(win)
    return api.nvim_win_get_config(win).relative == ""
  end, api.nvim_tabpage_list_wins(0))
end

---@param buf integer
---@return integer? win that shows it in this tab page
function M.visible(buf)
  return vim.iter(api.nvim_tabpage_list_wins(0)):find(function(win)
    return api.nvim_win_get_buf(win) == buf
  end)
end

---@return claude-code.TerminalShot
local function shot()
  return {
    tab = api.nvim_get_current_tabpage(),
    wins = normal_windows(),
    room = ("%dx%d"):format(vim.o.columns, vim.o.lines),
    sizes = vim.fn.winrestcmd(),
  }
end

--- Sizes as they were, if the windows are the same.
---@param before claude-code.TerminalShot
local function restore_sizes(before)
  local now = shot()
  if
    now.tab == before.tab
    and now.room == before.room
    and vim.deep_equal(now.wins, before.wins)
  then
    vim.cmd(before.sizes)
  end
end

--- The window keeps its size as the screen changes. However it closes, its size is remembered and
--- the others get theirs back.
---@param win integer
---@param buf integer the terminal; the window may have been given to something else since
---@param before? claude-code.TerminalShot
local function follow(win, buf, before)
  local room = size.watch(win, buf)
  api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(win),
    once = true,
    callback = function()
      if api.nvim_win_get_buf(win) == buf then
        size.notice(room)
        vim.schedule(function()
          if before then
            restore_sizes(before)
          end
        end)
      end
    end,
  })
end

---@param win integer
local function dress(win)
  for name, value in pairs(OPTIONS) do
    api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
  local _, beside = size.side()
  local fixed = beside and "winfixwidth" or "winfixheight"
  api.nvim_set_option_value(fixed, true, { win = win, scope = "local" })
end

--- As after a split by hand: with 'equalalways' the other windows share the room that is left.
---@param beside boolean
local function share_rest(beside)
  local direction = beside and "hor" or "ver"
  local before = vim.o.eadirection
  if vim.o.equalalways and (before == "both" or before == direction) then
    -- That it is set makes all equal, in the direction named.
    vim.cmd(("noautocmd set eadirection=%s noequalalways equalalways"):format(direction))
    vim.cmd(("noautocmd set eadirection=%s"):format(before))
  end
end

---@param buf integer
---@param enter boolean
---@return integer win
local function open(buf, enter)
  local before = shot()
  local position, beside = size.side()
  local cells = size.wanted()
  local win = api.nvim_open_win(buf, enter, {
    split = SPLITS[position],
    win = -1,
    [beside and "width" or "height"] = cells,
  })
  dress(win)
  -- Neovim 0.10 makes all windows equal although it was told a size.
  size.set(win, cells)
  share_rest(beside)
  follow(win, buf, before)
  return win
end

--- What a person had in a window before: its alternate buffer, or the one used last.
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

--- Closes a window, or shows something else where it is the only one.
---@param win integer
function M.leave(win)
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

---@param win integer
---@return boolean
function M.is_terminal(win)
  return vim.bo[api.nvim_win_get_buf(win)].filetype == M.FILETYPE
end

--- Shows the terminal in this tab page, too, if it is visible in `from`. For tab pages that go again.
---@param from integer tab page
---@param fits? fun(width: integer, height: integer): boolean is so much room for the others enough?
function M.accompany(from, fits)
  local win = vim.iter(api.nvim_tabpage_list_wins(from)):find(M.is_terminal)
  if not win then
    return
  end
  local width, height = api.nvim_win_get_width(0), api.nvim_win_get_height(0)
  local _, beside = size.side()
  local cells = size.wanted() + 1
  if fits and not fits(beside and width - cells or width, beside and height or height - cells) then
    return
  end
  open(api.nvim_win_get_buf(win), false)
end

--- Shows the terminal in this tab page and moves there. It is nowhere else then: it can have but one
--- size. A diff's tab page goes again, so that it stays where it was.
---@param buf integer
---@return integer win
function M.show(buf)
  local win = M.visible(buf)
  if win then
    api.nvim_set_current_win(win)
    return win
  end
  local diff_tab = package.loaded["claude-code.editor.diff.tab"]
  if not (diff_tab and diff_tab.is_current()) then
    for _, elsewhere in ipairs(vim.fn.win_findbuf(buf)) do
      M.leave(elsewhere)
    end
  end
  return open(buf, true)
end

--- Shows the terminal in a window that is there, and moves nowhere.
---@param win integer
---@param buf integer
function M.occupy(win, buf)
  api.nvim_win_set_buf(win, buf)
  dress(win)
  follow(win, buf)
end

---@param buf integer
function M.hide(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    M.leave(win)
  end
end

--- Takes the terminal out of its windows and leaves them open.
---@param buf integer
function M.vacate(buf)
  local empty = api.nvim_create_buf(false, true)
  vim.bo[empty].bufhidden = "wipe"
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_set_buf(win, empty)
  end
end

return M
