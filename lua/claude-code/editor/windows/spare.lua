--- The user's window must not go with what it shows for a while (nor Neovim, if it is the last one): as they close it,
--- another one with their file takes its place.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local layout = require("claude-code.editor.windows.layout")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Spare
---@field private borrowed claude-code.BorrowedWindow
---@field private shown integer the buffer in it
---@field private events claude-code.Autocommands
---@field private before? claude-code.SavedLayout
---@field private win? integer takes the place of the window that the user closes just now
---@field private buf? integer that it shows
---@field private was_inside? boolean the user was in the window when it closed
local Spare = {}
Spare.__index = Spare

--- One may end after the next one of its window has begun.
local count = 0

---@param borrowed claude-code.BorrowedWindow
---@return claude-code.Spare watches it until `finish`
function M.watch(borrowed)
  local win, shown = borrowed.win, api.nvim_win_get_buf(borrowed.win)
  count = count + 1
  local events = autocommands.new("spare." .. count)
  local self = setmetatable({ borrowed = borrowed, shown = shown, events = events }, Spare)
  events:on("QuitPre", function()
    -- In another window of that buffer it is that one which closes.
    if api.nvim_get_current_win() ~= win and api.nvim_get_current_buf() == shown then
      return
    end
    self:open()
    -- The :quit may have failed.
    vim.schedule(function()
      if self.win and self:is_shown() then
        pcall(windows.noautocmd, function()
          self:close()
        end)
      end
    end)
  end, { buffer = shown })
  events:on("WinClosed", function()
    -- With `:only` in another window it goes with the others, and with `:tabclose` the tab page goes.
    if api.nvim_get_current_win() == win and not windows.is_last(win) then
      self:open()
    end
  end, { pattern = tostring(win) })
  return self
end

---@private
---@return boolean
function Spare:is_shown()
  local win = self.borrowed.win
  return api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == self.shown
end

---@private
function Spare:open()
  local borrowed = self.borrowed
  if self.win or not self:is_shown() then
    return
  end
  self.was_inside = api.nvim_get_current_win() == borrowed.win
  self.before = layout.save()
  self.buf = windows.reload(borrowed) and borrowed.buf or api.nvim_create_buf(true, false)
  -- Where there is no room below there is some beside.
  for _, split in ipairs({ "below", "right" }) do
    local place = { win = borrowed.win, split = split }
    pcall(windows.noautocmd, function()
      self.win = self.win or api.nvim_open_win(self.buf, false, place)
    end)
  end
end

---@private
function Spare:close()
  if self.win and api.nvim_win_is_valid(self.win) then
    windows.close(self.win)
    layout.restore_sizes(self.before)
  end
  self.win = nil
end

---Ends the watch.
---@return integer? instead the window that has taken the place of the one that is closed
function Spare:finish()
  self.events:stop()
  local borrowed, instead = self.borrowed, self.win
  if api.nvim_win_is_valid(borrowed.win) then
    self:close()
  elseif instead and api.nvim_win_is_valid(instead) then
    layout.replace(self.before, borrowed.win, instead)
    layout.restore_sizes(self.before)
    -- Else the user has opened something there already.
    if api.nvim_win_get_buf(instead) == self.buf then
      windows.give_back(borrowed, instead)
    end
    if self.was_inside then
      api.nvim_set_current_win(instead)
    end
    return instead
  end
end

return M
