--- What the user selected last: the selection or the cursor of the file window they were in last.
--- Terminals, lists, scratch buffers, diffs, prompts, commit messages and private files never replace it.
--- A visual selection stays after its mode was left, until the cursor moves or its lines change, since
--- users leave visual mode to write to Claude about the selection. What was selected before is still
--- known after a stop.
local api = vim.api
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local snapshots = require("claude-code.editor.selection.snapshot")
local visual = require("claude-code.editor.selection.visual")

---@class claude-code.HeldSelection a visual selection whose mode was left
---@field region claude-code.VisualRegion
---@field snapshot claude-code.Snapshot
---@field cursor { [1]: integer, [2]: integer } as nvim_win_get_cursor gives it
---@field lines string the lines it touches: an edit elsewhere in the buffer does not end it

local held ---@type claude-code.HeldSelection?
---The place in which visual mode was entered.
local visual_start ---@type { buf: integer, tick: integer }?
local entered ---@type { win: integer, buf: integer, cursor: { [1]: integer, [2]: integer } }?

local M = {
  latest = nil, ---@type claude-code.Snapshot?
  ---The file window the user was in last.
  file_win = nil, ---@type integer?
}

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
  return is_wanted and not path.is_message(buf) and not privacy.hides(buf) and buf or nil
end

local function hold(region)
  held = {
    region = region,
    snapshot = snapshots.of_region(region),
    cursor = api.nvim_win_get_cursor(0),
    lines = visual.lines(region),
  }
  M.latest, M.file_win = held.snapshot, api.nvim_get_current_win()
end

local function is_held(buf, win)
  return held ~= nil
    and held.region.buf == buf
    and vim.deep_equal(held.cursor, api.nvim_win_get_cursor(win))
    and held.lines == visual.lines(held.region)
    and held.snapshot.path == path.of_buffer(buf)
end

local function snapshot_in(win, buf)
  local region = win == api.nvim_get_current_win() and visual.current() or nil
  if region then
    return snapshots.of_region(region)
  elseif held and is_held(buf, win) then
    return held.snapshot
  end
  held = nil
  return snapshots.of_cursor(win)
end

---Brings `latest` up to date. Not while a command line is open: the cursor may be on a search's match
---('incsearch').
function M.update()
  if api.nvim_get_mode().mode:sub(1, 1) == "c" then
    return
  end
  local win = api.nvim_get_current_win()
  local buf = M.file_in(win)
  if buf then
    M.file_win = win
  else
    buf = M.file_in(M.file_win)
  end
  local latest = M.latest
  if buf then
    M.latest = snapshot_in(M.file_win, buf)
  elseif latest and (not api.nvim_buf_is_loaded(latest.buf) or privacy.hides(latest.buf)) then
    M.latest, held = nil, nil
  end
end

function M.visual_enter()
  local buf = api.nvim_get_current_buf()
  visual_start = { buf = buf, tick = api.nvim_buf_get_changedtick(buf) }
end

---@param mode claude-code.VisualMode
function M.visual_leave(mode)
  local buf, start = M.file_in(api.nvim_get_current_win()), visual_start
  visual_start = nil
  -- TODO(0.10): it takes the mode along into another buffer; `win_leave` has seen to that.
  if not buf or (start and start.buf ~= buf) then
    return
  end
  held = nil
  -- What an operator has changed is not selected any more.
  if not start or start.tick == api.nvim_buf_get_changedtick(buf) then
    local region = visual.last(mode)
    if region then
      hold(region)
    end
  end
end

function M.win_enter()
  local win = api.nvim_get_current_win()
  local buf, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  entered = { win = win, buf = buf, cursor = cursor }
end

---Windows on the way from one to another do not count, unless the cursor was moved there, however
---quickly.
function M.win_leave()
  local win = api.nvim_get_current_win()
  local buf = M.file_in(win)
  if not buf then
    return
  end
  local region = visual.current()
  if region then
    hold(region)
  elseif
    entered
    and entered.win == win
    and (entered.buf ~= buf or not vim.deep_equal(entered.cursor, api.nvim_win_get_cursor(win)))
  then
    M.update()
  end
end

return M
