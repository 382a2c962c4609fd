--- How wide, or high, the terminal's window is: its share of the screen, or what a person gave it.
local api = vim.api

local M = {}

--- What the other windows keep in any case: columns, lines.
local LEFT = { beside = 10, stacked = 3 }

--- Cells that a person gave it, per side and size of the screen.
---@type table<string, integer>
local kept = {}

--- A window that the terminal is in.
---@class claude-code.TerminalRoom
---@field win integer
---@field buf integer the terminal; the window may be given to something else
---@field side string where it opened
---@field screen string side and size of the screen when it got its size
---@field cells integer what it got
---@field chosen? integer cells that a person gave it

---@return "left"|"right"|"top"|"bottom" position
---@return boolean beside rather than above or below
function M.side()
  local position = require("claude-code.config").get().terminal.position
  return position, position == "left" or position == "right"
end

---@return string
local function screen()
  return ("%s %dx%d"):format(M.side(), vim.o.columns, vim.o.lines)
end

---@return integer cells of the screen in the direction that counts
local function total()
  local _, beside = M.side()
  return beside and vim.o.columns or vim.o.lines - vim.o.cmdheight - 1
end

---@param cells integer
---@return integer cells
local function clamp(cells)
  local _, beside = M.side()
  local most = total() - 1 - (beside and LEFT.beside or LEFT.stacked)
  return math.max(1, math.min(cells, most))
end

---@return integer cells
local function by_option()
  return clamp(math.floor(total() * require("claude-code.config").get().terminal.size))
end

--- For a window that opens now.
---@return integer cells
function M.wanted()
  return clamp(kept[screen()] or by_option())
end

---@param win integer
---@return integer cells
local function of(win)
  local _, beside = M.side()
  return (beside and api.nvim_win_get_width or api.nvim_win_get_height)(win)
end

---@param win integer
---@param cells integer
function M.set(win, cells)
  local _, beside = M.side();
  (beside and api.nvim_win_set_width or api.nvim_win_set_height)(win, cells)
end

--- Where it has all the room nobody gave it that. A tab page that is closing is gone already.
---@param win integer
---@return boolean
local function is_alone(win)
  local ok, tab = pcall(api.nvim_win_get_tabpage, win)
  local wins = ok and api.nvim_tabpage_is_valid(tab) and api.nvim_tabpage_list_wins(tab) or {}
  return not vim.iter(wins):any(function(other)
    return other ~= win and api.nvim_win_get_config(other).relative == ""
  end)
end

--- Is this still the window that was opened for the terminal, as the options have it?
---@param room claude-code.TerminalRoom
---@return boolean
local function is_ours(room)
  return api.nvim_win_get_buf(room.win) == room.buf and M.side() == room.side
end

--- Notices whether a person has changed the size.
---@param room claude-code.TerminalRoom
function M.notice(room)
  if room.screen ~= screen() or not is_ours(room) or is_alone(room.win) then
    return
  end
  local cells = of(room.win)
  if cells ~= room.cells then
    room.cells = cells
    room.chosen = cells ~= by_option() and cells or nil
    kept[room.screen] = room.chosen
  end
end

--- After the screen got another size.
---@param room claude-code.TerminalRoom
local function fit(room)
  local now = screen()
  local here = vim.list_contains(api.nvim_tabpage_list_wins(0), room.win)
  if room.screen == now or not here or not is_ours(room) then
    return
  end
  kept[now] = kept[now] or room.chosen
  room.screen, room.chosen = now, kept[now]
  if not is_alone(room.win) then
    M.set(room.win, M.wanted())
  end
  room.cells = of(room.win)
end

--- Watches over the size of a window from now on.
---@param win integer
---@param buf integer
---@return claude-code.TerminalRoom
function M.watch(win, buf)
  local side, now = M.side(), screen()
  local room =
    { win = win, buf = buf, side = side, screen = now, cells = of(win), chosen = kept[now] }
  local function on(events, callback)
    api.nvim_create_autocmd(events, {
      callback = function()
        if not api.nvim_win_is_valid(win) then
          return true
        end
        callback(room)
      end,
    })
  end
  -- The windows of other tab pages get their sizes when these are entered.
  on({ "VimResized", "TabEnter" }, fit)
  on("WinResized", M.notice)
  return room
end

return M
