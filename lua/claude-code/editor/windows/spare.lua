--- The user's window must not go with what it shows for a while (nor Neovim, if it is the last one): as they close it,
--- another one with their file takes its place.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.Spare
---@field private borrowed claude-code.BorrowedWindow
---@field private shown integer the buffer in it
---@field private events claude-code.Autocommands
---@field private win? integer takes the place of the window that the user closes just now
---@field private was_inside? boolean the user was in the window when it closed
local Spare = {}
Spare.__index = Spare

---@param borrowed claude-code.BorrowedWindow
---@return claude-code.Spare watches it until `finish`
function M.watch(borrowed)
  local win, shown = borrowed.win, api.nvim_win_get_buf(borrowed.win)
  local events = autocommands.new("spare." .. win)
  local self = setmetatable({ borrowed = borrowed, shown = shown, events = events }, Spare)
  events:on("QuitPre", function()
    self:open()
    -- The :quit may have failed.
    vim.schedule(function()
      if self.win and api.nvim_win_is_valid(win) and api.nvim_win_get_buf(win) == shown then
        pcall(windows.noautocmd, function()
          self:close()
        end)
      end
    end)
  end, { buffer = shown })
  events:on("WinClosed", function()
    -- With `:only` in another window it goes with the others.
    if api.nvim_get_current_win() == win or windows.is_last(win) then
      self:open()
    end
  end, { pattern = tostring(win) })
  return self
end

---@private
function Spare:open()
  local borrowed = self.borrowed
  if self.win or not windows.reload(borrowed) then
    return
  end
  self.was_inside = api.nvim_get_current_win() == borrowed.win
  pcall(windows.noautocmd, function()
    local height = math.max(1, math.floor(api.nvim_win_get_height(borrowed.win) / 2))
    local split = { win = borrowed.win, split = "below", height = height }
    self.win = api.nvim_open_win(borrowed.buf, false, split)
  end)
end

---@private
function Spare:close()
  if self.win and api.nvim_win_is_valid(self.win) then
    windows.close(self.win)
  end
  self.win = nil
end

---Ends the watch.
---@return integer? instead the window that has taken the place of the one that is closed
function Spare:finish()
  self.events:stop()
  local instead = self.win
  if api.nvim_win_is_valid(self.borrowed.win) then
    self:close()
  elseif instead and api.nvim_win_is_valid(instead) then
    windows.give_back(self.borrowed, instead)
    if self.was_inside then
      api.nvim_set_current_win(instead)
    end
    return instead
  end
end

return M
