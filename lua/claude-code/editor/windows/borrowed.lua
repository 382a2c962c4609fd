--- Borrows one of the user's windows for our buffer and gives it back as it was, or uses a new window. If the user
--- closes our buffer, a spare window with the user's file takes its place: closing the last window would end Neovim.
local api, fn = vim.api, vim.fn
local autocommands = require("claude-code.lib.autocommands")
local layout = require("claude-code.editor.windows.layout")
local documents = require("claude-code.editor.documents")
local windows = require("claude-code.editor.windows")

---@class claude-code.Borrowed
---@field win integer
---@field is_new boolean we opened the window; fields about the user's buffer are missing
---@field private shown integer our buffer
---@field private options table<string, any>
---@field private buf integer the user's buffer
---@field private name string of `buf`
---@field private bufhidden string of `buf`
---@field private is_listed boolean
---@field private view vim.fn.winsaveview.ret
---@field private alternate integer buffer that CTRL-^ led to, or -1
---@field private events? claude-code.Autocommands
---@field private sizes? claude-code.SavedLayout before the spare window opened
---@field private spare? integer window that is about to take the place of the closing one
---@field private was_inside? boolean the cursor was in the window when it closed
local Borrowed = {}
Borrowed.__index = Borrowed

local M = {}

---Numbers the groups of autocommands: a group may end after the next group of its window has begun.
local count = 0

---@param buf integer our buffer, which `win` shows
function M.new(win, buf)
  local fields = { win = win, is_new = true, shown = buf, options = windows.new_options() }
  return setmetatable(fields, Borrowed)
end

---Shows our buffer in a user's window, and keeps the user's buffer loaded even with 'nohidden' or 'bufhidden'.
function M.take(win, buf)
  local before = api.nvim_win_get_buf(win)
  local borrowed = setmetatable({
    win = win,
    is_new = false,
    shown = buf,
    options = windows.options_of(win),
    buf = before,
    name = api.nvim_buf_get_name(before),
    bufhidden = vim.bo[before].bufhidden,
    is_listed = vim.bo[before].buflisted,
    view = api.nvim_win_call(win, fn.winsaveview),
    alternate = windows.alternate(win),
  }, Borrowed)
  vim.bo[before].bufhidden = "hide"
  local ok, message = pcall(windows.show, win, buf)
  if not ok then
    borrowed:restore_bufhidden()
    error(message, 0)
  end
  return borrowed
end

---Opens a spare window when the user closes the borrowed one.
function Borrowed:keep_place()
  if self.is_new then
    return
  end
  count = count + 1
  self.events = autocommands.new("spare." .. count)
  self.events:on("QuitPre", function()
    if api.nvim_get_current_win() ~= self.win and api.nvim_get_current_buf() == self.shown then
      return -- Another window with our buffer closes.
    end
    self:open_spare()
    vim.schedule(function() -- :quit may have failed.
      if self.spare and windows.shows(self.win, self.shown) then
        pcall(windows.noautocmd, function()
          self:close_spare()
        end)
      end
    end)
  end, { buffer = self.shown })
  self.events:on("WinClosed", function()
    -- :only in another window and :tabclose may close it for good.
    if api.nvim_get_current_win() == self.win and not windows.is_last(self.win) then
      self:open_spare()
    end
  end, { pattern = tostring(self.win) })
end

---@private
function Borrowed:open_spare()
  if self.spare or not windows.shows(self.win, self.shown) then
    return
  end
  self.was_inside = api.nvim_get_current_win() == self.win
  self.sizes = layout.save()
  self.buf = self:load() and self.buf or api.nvim_create_buf(true, false)
  -- There may be room at the side, but not below.
  for _, split in ipairs({ "below", "right" }) do
    pcall(windows.noautocmd, function()
      self.spare = self.spare
        or api.nvim_open_win(self.buf, false, { win = self.win, split = split })
    end)
  end
end

---@private
function Borrowed:close_spare()
  if self.spare and api.nvim_win_is_valid(self.spare) then
    windows.close(self.spare)
    layout.restore_sizes(self.sizes)
  end
  self.spare = nil
end

---Closes the spare window, unless it is needed.
---@return integer? instead window that has taken the place of the borrowed one
function Borrowed:settle_place()
  local events, instead = self.events, self.spare
  self.events = nil
  if not events then
    return
  end
  events:stop()
  if api.nvim_win_is_valid(self.win) then
    self:close_spare()
  elseif instead and api.nvim_win_is_valid(instead) then
    layout.replace(self.sizes, self.win, instead)
    layout.restore_sizes(self.sizes)
    if api.nvim_win_get_buf(instead) == self.buf then -- The user has opened nothing else there.
      self:give_back(instead)
    end
    if self.was_inside then
      api.nvim_set_current_win(instead)
    end
    return instead
  end
end

---Reads the user's buffer again if it was unloaded or wiped out in the meantime.
---@private
---@return boolean is_loaded
function Borrowed:load()
  if not api.nvim_buf_is_valid(self.buf) then
    if self.name == "" then
      return false
    end
    self.buf = fn.bufadd(self.name)
  end
  if api.nvim_buf_is_loaded(self.buf) then
    return true
  end
  local ignored = vim.o.eventignore
  vim.o.eventignore = ""
  local ok = pcall(documents.load_buffer, self.buf)
  vim.o.eventignore = ignored
  vim.bo[self.buf].buflisted = self.is_listed
  return ok
end

---Gives the window back, or closes it if it is new.
---@param win? integer takes its place
function Borrowed:give_back(win)
  win = win or self.win
  if self.is_new then
    return windows.close(win)
  elseif not self:load() then
    return api.nvim_win_call(win, vim.cmd.enew)
  end
  windows.show(win, self.buf)
  windows.set_options(win, self.options)
  api.nvim_win_call(win, function()
    -- The window that takes its place has another alternate buffer.
    if fn.bufnr("#") ~= self.alternate and fn.bufexists(self.alternate) == 1 then
      fn.setreg("#", self.alternate)
    end
    fn.winrestview(self.view)
    -- winline() updates the row of the cursor, which Neovim uses to scroll when the window grows.
    fn.winline()
  end)
end

---Restores options after the user has opened something else in the window.
---@param names string[] options that we changed
function Borrowed:release(names, win)
  local values = {}
  for _, name in ipairs(names) do
    values[name] = self.options[name]
  end
  windows.set_options(win or self.win, values)
end

function Borrowed:restore_bufhidden()
  if self.buf and api.nvim_buf_is_valid(self.buf) then
    vim.bo[self.buf].bufhidden = self.bufhidden
  end
end

---@param names string[] options that we changed
---@return integer? instead window that has taken the place of the borrowed one
function Borrowed:finish(names)
  local instead = self:settle_place()
  if windows.shows(self.win, self.shown) then
    self:give_back()
  elseif api.nvim_win_is_valid(self.win) then
    self:release(names)
  end
  self:restore_bufhidden()
  return instead
end

return M
