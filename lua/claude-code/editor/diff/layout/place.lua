--- Where a diff goes: in the place of the file's window, or on a tab page of its own. Claude's terminal
--- gives it some cells for as long as it is on screen: columns at the side, rows above or below.
local api = vim.api
local size = require("claude-code.terminal.size")
local terminal = require("claude-code.terminal.window")
local windows = require("claude-code.editor.windows")

---@class claude-code.Place
---@field on_tab boolean
---@field width integer cells that the diff will have
---@field height integer
---@field private layout claude-code.DiffLayout
---@field private target? integer buffer of the file
---@field private except? integer window that must not change
---@field private given? claude-code.GivenCells by the terminal
local Place = {}
Place.__index = Place

local M = {}

---@class claude-code.Room in cells
---@field width integer
---@field height integer

---Room in which a diff is easy to read: a side has 60 columns and 15 lines, and a bar.
---@type table<claude-code.DiffLayout, claude-code.Room>
local EASY = {
  vertical = { width = 121, height = 16 },
  tab = { width = 121, height = 16 },
  horizontal = { width = 60, height = 33 },
  inline = { width = 60, height = 16 },
}

---With less than this a side shows too little of a change: 45 columns beside each other.
---@type table<claude-code.DiffLayout, claude-code.Room>
local LEAST = {
  vertical = { width = 91, height = 1 },
  tab = { width = 91, height = 1 },
  -- Four lines, a status line and a bar each.
  horizontal = { width = 1, height = 12 },
  inline = { width = 1, height = 1 },
}

---A tab page is worth it with so many times the room.
local GAIN = 1.2

---@param layout claude-code.DiffLayout
---@param width integer
---@param height integer
---@return boolean is so much room enough?
local function fits(layout, width, height)
  return width >= LEAST[layout].width and height >= LEAST[layout].height
end

---@param target? integer
---@param except? integer
---@return claude-code.Room
local function room_here(target, except)
  local win = windows.for_file(target, except)
  if win then
    return { width = api.nvim_win_get_width(win), height = api.nvim_win_get_height(win) }
  end
  local width, height = windows.room_beside()
  return { width = width, height = height }
end

---@return claude-code.Room
local function room_on_tab()
  local width, height = terminal.room_on_tab()
  return { width = width, height = height }
end

---@param layout claude-code.DiffLayout
---@param target? integer
---@param except? integer
---@return boolean nothing else will do
local function must_be_on_tab(layout, target, except)
  if layout == "tab" then
    return true
  elseif not windows.has_diff() then
    return false
  end
  -- All windows in diff mode of a tab page are compared with each other.
  return layout ~= "inline" or not windows.for_file(target, except)
end

---@param layout claude-code.DiffLayout
---@param here claude-code.Room
---@return boolean does a tab page have more of what is missing here?
local function is_better_on_tab(layout, here)
  local easy, tab = EASY[layout], room_on_tab()
  for _, dimension in ipairs({ "width", "height" }) do
    local missing = here[dimension] < easy[dimension]
    if missing and tab[dimension] >= GAIN * here[dimension] then
      return true
    end
  end
  return false
end

---@param layout claude-code.DiffLayout
---@return claude-code.Room of a tab page, where a terminal that leaves too little does not come along
local function room_without_terminal(layout)
  local room = room_on_tab()
  if fits(layout, room.width, room.height) then
    return room
  end
  return { width = vim.o.columns, height = vim.o.lines - vim.o.cmdheight - 2 }
end

---@class claude-code.GivenCells
---@field win integer
---@field dimension claude-code.Dimension
---@field cells integer

---@param layout claude-code.DiffLayout
---@param room claude-code.Room
---@return claude-code.GivenCells? given by the terminal, as many as are missing
local function given_by_terminal(layout, room)
  local places = { width = terminal.at_side(), height = terminal.above_or_below() }
  for dimension, win in pairs(places) do
    local missing = EASY[layout][dimension] - room[dimension]
    local cells = math.min(missing, size.spare(win, dimension))
    if cells > 0 then
      return { win = win, dimension = dimension, cells = cells }
    end
  end
end

---@param layout claude-code.DiffLayout
---@param target? integer buffer of the file
---@param except? integer window that must not change, as the user types there
---@param behind_float boolean in this tab page nothing can be seen of it
---@return claude-code.Place
function M.choose(layout, target, except, behind_float)
  local here = room_here(target, except)
  local must = behind_float or must_be_on_tab(layout, target, except)
  -- A user who keeps the cursor would not see a diff on another tab page.
  local goes_there = not except and require("claude-code.config").get().diff.focus
  local on_tab = must or (goes_there and is_better_on_tab(layout, here))
  local room = must and room_without_terminal(layout) or on_tab and room_on_tab() or here
  local given = given_by_terminal(layout, room)
  if given then
    room[given.dimension] = room[given.dimension] + given.cells
  end
  return setmetatable({
    on_tab = on_tab,
    width = room.width,
    height = room.height,
    layout = layout,
    target = target,
    except = except,
    given = given,
  }, Place)
end

---@return boolean is there room for the layout?
function Place:fits()
  return fits(self.layout, self.width, self.height)
end

---Takes the cells from the terminal. With autocommands off.
function Place:make_room()
  local given = self.given
  if not given then
    return
  end
  -- In this tab page also for another one: a terminal is as big as the biggest of its windows.
  size.shrink("diff", given.win, given.dimension, given.cells)
  local win = not self.on_tab and windows.for_file(self.target, self.except)
  if win then
    size.set(win, given.dimension, self[given.dimension])
  end
end

---A window for one side of the diff, or all of it: of the tab page, or borrowed.
---@param buf integer
---@return integer win
---@return claude-code.BorrowedWindow? borrowed nil if the window is new
function Place:take(buf)
  if not self.on_tab then
    return windows.take(buf, self.target, self.except)
  end
  local win = require("claude-code.editor.diff.tab").open(buf, function(width, height)
    return fits(self.layout, width, height)
  end)
  return win
end

return M
