--- Notices what happens to a diff on screen: its windows, its file, its edits, its keys.
local api = vim.api
local channel = require("claude-code.server.channel")
local keys = require("claude-code.editor.diff.keys")
local original = require("claude-code.editor.diff.original")
local refresh = require("claude-code.editor.diff.refresh")
local typed_close = require("claude-code.editor.diff.typed_close")
local winbar = require("claude-code.editor.windows.winbar")
local write = require("claude-code.editor.diff.write")

---How often all is looked at for what has no event (the executable died, somebody closed a window
---with autocommands off), in ms.
local WATCHDOG_MS = 500

---@class claude-code.Watch
---@field private view claude-code.View
---@field private proposal claude-code.Proposal
---@field private on claude-code.ViewCallbacks
---@field private is_closing fun(): boolean the user closes one of its windows just now
---@field private stops table<string, fun()> what ends each thing that was started
local Watch = {}
Watch.__index = Watch

local M = {}

---@param view claude-code.View
---@param proposal claude-code.Proposal on screen
---@param on claude-code.ViewCallbacks
---@return claude-code.Watch
function M.start(view, proposal, on)
  local watch = setmetatable({ view = view, proposal = proposal, on = on, stops = {} }, Watch)
  local group = watch:start_events()
  write.attach(proposal, view.guard, group, on.write, function()
    watch:follow_edits()
  end)
  watch:watch_typed_close(group)
  watch:start_watchdog()
  watch:follow_edits()
  watch:map_keys()
  watch:replace("original", function()
    return original.map(proposal)
  end)
  return watch
end

---Ends what goes by this name, and puts something else in its place.
---@param name string
---@param start? fun(): fun() returns what ends it
function Watch:replace(name, start)
  local stop = self.stops[name]
  self.stops[name] = nil
  if stop then
    stop()
  end
  self.stops[name] = start and start()
end

---Ends all: what happens to the windows from now on decides nothing.
function Watch:stop()
  for name in pairs(self.stops) do
    self:replace(name)
  end
end

---@private
function Watch:map_keys()
  self:replace("keys", function()
    return keys.map(self.proposal:buffers(), self.on.actions, self.view.guard)
  end)
end

---@private
function Watch:follow_edits()
  self:replace("edits", function()
    return refresh.on_edit(self.proposal.new_buf, function()
      self.view:refresh()
    end)
  end)
end

---@private
---@param group integer
function Watch:watch_typed_close(group)
  local function executed(closed)
    if not next(self.stops) then
      return
    elseif closed then
      self.on.closed()
    else
      self:check_windows()
    end
  end
  local windows, guard = self.view:windows(), self.view.guard
  self.stops.typed_close, self.is_closing = typed_close.watch(windows, guard, group, executed)
end

---Has the user left the diff?
---@private
function Watch:check_windows()
  if not next(self.stops) or self.is_closing() then
    return
  end
  -- In this order: without the executable the diff closes by itself.
  if channel.is_attached() and not self.view:is_intact() then
    self.on.left()
  end
end

---The diff follows what happens to the file.
---@private
function Watch:check_file()
  if not self.view:is_open() then
    return
  end
  local written, edited = self.proposal:follow_disk(), self.proposal:find_unsaved()
  if written then
    self:map_keys()
    if api.nvim_get_mode().mode == "n" then
      -- Who is about to accept has not seen what they would overwrite.
      self.view.guard:restart("was updated")
    end
  end
  if written or edited then
    self.view:refresh()
    self.proposal.changes:report(self.proposal.unsaved)
  end
end

---@private
---@return integer group
function Watch:start_events()
  local group = api.nvim_create_augroup("claude-code.diff", { clear = true })
  local function autocmd(events, callback, buf)
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  local check_windows = vim.schedule_wrap(function()
    self:check_windows()
  end)
  for _, buf in ipairs(self.proposal:buffers()) do
    local gone = { "BufWinLeave", "BufUnload", "BufDelete", "BufWipeout", "BufHidden" }
    autocmd(gone, check_windows, buf)
  end
  autocmd({ "WinClosed", "TabClosed", "BufWinEnter" }, check_windows)
  -- Later, as Claude's terminal and other plugins change sizes now.
  autocmd(
    "VimResized",
    vim.schedule_wrap(function()
      self.view:even_out()
    end)
  )
  autocmd({ "BufWritePost", "BufModifiedSet", "FileChangedShellPost" }, self:all_checks())
  winbar.follow(group, function()
    self.view:show_bars()
  end)
  autocmd("BufWinLeave", function()
    -- As Neovim ends, this comes before any VimLeavePre, where plugins save the windows as a session.
    if vim.v.exiting ~= vim.NIL then
      self.view:close_on_exit()
    end
  end)
  self.stops.events = function()
    pcall(api.nvim_del_augroup_by_id, group)
  end
  return group
end

---@private
---@return fun()
function Watch:all_checks()
  return vim.schedule_wrap(function()
    self:check_windows()
    self:check_file()
  end)
end

---@private
function Watch:start_watchdog()
  local timer = assert(vim.uv.new_timer())
  timer:start(WATCHDOG_MS, WATCHDOG_MS, self:all_checks())
  self.stops.watchdog = function()
    timer:close()
  end
end

return M
