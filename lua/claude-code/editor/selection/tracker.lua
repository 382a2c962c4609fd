--- What the user selected last: the selection or the cursor of the file window they were in last.
--- Terminals, lists, scratch buffers, diffs and private files never replace it. A visual selection
--- stays after its mode was left, until the cursor moves or its lines change, since users leave visual
--- mode to write to Claude about the selection.
local api = vim.api
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local snapshots = require("claude-code.editor.selection.snapshot")
local visual = require("claude-code.editor.selection.visual")

---@class claude-code.HeldSelection a visual selection whose mode was left
---@field region claude-code.VisualRegion
---@field snapshot claude-code.Snapshot
---@field cursor { [1]: integer, [2]: integer } as nvim_win_get_cursor gives it
---@field tick integer
---@field lines string the lines it touches: an edit elsewhere in the buffer does not end it

---@class claude-code.SelectionTracker
---@field latest? claude-code.Snapshot
---@field file_win? integer the file window the user was in last
---@field private visual_start? { buf: integer, tick: integer } where visual mode was entered
---@field private entered? { win: integer, buf: integer, cursor: { [1]: integer, [2]: integer } }
---@field private held? claude-code.HeldSelection
local Tracker = {}
Tracker.__index = Tracker

local M = {}

---@return claude-code.SelectionTracker
function M.new()
  return setmetatable({}, Tracker)
end

---@param win integer?
---@return integer? buf if the window shows a file that Claude may know
function M.file_in(win)
  if not win or not api.nvim_win_is_valid(win) then
    return nil
  end
  local buf = api.nvim_win_get_buf(win)
  local name = path.of_buffer(buf)
  -- The plugin's log is not the user's work.
  local is_wanted = name and name ~= require("claude-code.messages.log").path()
  return is_wanted and not privacy.hides(buf) and buf or nil
end

---@private
---@param region claude-code.VisualRegion in the current window
function Tracker:hold(region)
  self.held = {
    region = region,
    snapshot = snapshots.of_region(region),
    cursor = api.nvim_win_get_cursor(0),
    tick = api.nvim_buf_get_changedtick(region.buf),
    lines = visual.lines(region),
  }
  self.latest, self.file_win = self.held.snapshot, api.nvim_get_current_win()
end

---@private
---@param buf integer
---@param win integer
---@return boolean
function Tracker:is_held(buf, win)
  local held = self.held
  if
    not held
    or held.region.buf ~= buf
    or not vim.deep_equal(held.cursor, api.nvim_win_get_cursor(win))
  then
    return false
  end
  local tick = api.nvim_buf_get_changedtick(buf)
  if tick ~= held.tick then
    -- Writing counts as a change too.
    if visual.lines(held.region) ~= held.lines then
      return false
    end
    held.tick = tick
  end
  return held.snapshot.path == path.of_buffer(buf)
end

---@private
---@param win integer
---@param buf integer
---@return claude-code.Snapshot
function Tracker:snapshot_in(win, buf)
  local region = win == api.nvim_get_current_win() and visual.current() or nil
  if region then
    return snapshots.of_region(region)
  elseif self:is_held(buf, win) then
    return self.held.snapshot
  end
  self.held = nil
  return snapshots.of_cursor(win)
end

---Brings `latest` up to date. Not while a command line is open: the cursor may be on a search's match
---('incsearch').
function Tracker:update()
  if api.nvim_get_mode().mode:sub(1, 1) == "c" then
    return
  end
  local win = api.nvim_get_current_win()
  local buf = M.file_in(win)
  if buf then
    self.file_win = win
  else
    buf = M.file_in(self.file_win)
  end
  local latest = self.latest
  if buf then
    self.latest = self:snapshot_in(self.file_win --[[@as integer]], buf)
  elseif latest and (not api.nvim_buf_is_loaded(latest.buf) or privacy.hides(latest.buf)) then
    self.latest, self.held = nil, nil
  end
end

function Tracker:visual_enter()
  local buf = api.nvim_get_current_buf()
  self.visual_start = { buf = buf, tick = api.nvim_buf_get_changedtick(buf) }
end

---@param mode claude-code.VisualMode
function Tracker:visual_leave(mode)
  local buf, start = M.file_in(api.nvim_get_current_win()), self.visual_start
  self.visual_start = nil
  -- TODO(0.10): it takes the mode along into another buffer; `win_leave` has seen to that.
  if not buf or (start and start.buf ~= buf) then
    return
  end
  self.held = nil
  -- What an operator has changed is not selected any more.
  if not start or start.tick == api.nvim_buf_get_changedtick(buf) then
    local region = visual.last(mode)
    if region then
      self:hold(region)
    end
  end
end

function Tracker:win_enter()
  local win = api.nvim_get_current_win()
  local buf, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  self.entered = { win = win, buf = buf, cursor = cursor }
end

---Windows on the way from one to another do not count, unless the cursor was moved there, however
---quickly.
function Tracker:win_leave()
  local win = api.nvim_get_current_win()
  local buf, entered = M.file_in(win), self.entered
  if not buf then
    return
  end
  local region = visual.current()
  if region then
    self:hold(region)
  elseif
    entered
    and entered.win == win
    and (entered.buf ~= buf or not vim.deep_equal(entered.cursor, api.nvim_win_get_cursor(win)))
  then
    self:update()
  end
end

return M
