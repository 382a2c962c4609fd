--- What the user has selected last, as Claude is to see it: the selection or the cursor of the
--- file window they were in last. Terminals, lists, scratch buffers, our diffs and private files
--- never replace it. A visual selection stays after its mode was left until the cursor moves or
--- its lines change, since one leaves visual mode to speak to Claude about the selection.
local api = vim.api
local privacy = require("claude-code.editor.privacy")
local region = require("claude-code.editor.selection.visual")
local snapshots = require("claude-code.editor.selection.snapshot")
local watch = require("claude-code.editor.selection.watch")

---@class claude-code.HeldSelection a visual selection whose mode was left
---@field region claude-code.VisualRegion
---@field snapshot claude-code.Snapshot
---@field cursor { [1]: integer, [2]: integer } as nvim_win_get_cursor gives it
---@field tick integer
---@field lines string the lines it touches, to tell an edit of them from one elsewhere

local M = {}

local running = false
local place ---@type integer? the file window the user was in last
local visual ---@type { buf: integer, tick: integer }? where the visual mode began
local seen ---@type { region: claude-code.VisualRegion, snapshot: claude-code.Snapshot, tick: integer }?
local entered ---@type { win: integer, buf: integer, cursor: { [1]: integer, [2]: integer } }?
local held ---@type claude-code.HeldSelection?
local latest ---@type claude-code.Snapshot?
local told ---@type claude-code.Snapshot? what the executable knows
local announced ---@type claude-code.Snapshot? the last that an event told of
local client_count = 0
local details_wanted = false

---@return integer bytes
local function limit()
  return require("claude-code.config").get().selection.max_bytes
end

---@param win integer?
---@return integer? buf if the window shows a file that Claude may know of
local function file_in(win)
  if not win or not api.nvim_win_is_valid(win) then
    return nil
  end
  local buf = api.nvim_win_get_buf(win)
  local name = require("claude-code.editor.documents.path").of_buffer(buf)
  -- Who reads our log means to show Claude nothing by that.
  local is_wanted = name and name ~= require("claude-code.messages.log").path()
  return is_wanted and not privacy.hides(buf) and buf or nil
end

---@param selected claude-code.VisualRegion
---@return claude-code.Snapshot
local function snapshot_of(selected)
  local tick = api.nvim_buf_get_changedtick(selected.buf)
  -- After `y` Vim no longer tells that a block reached to the line ends.
  if seen and seen.tick == tick and region.same(seen.region, selected) then
    return seen.snapshot
  end
  return snapshots.of_region(selected)
end

---@param selected claude-code.VisualRegion in the current window
local function hold(selected)
  held = {
    region = selected,
    snapshot = snapshot_of(selected),
    cursor = api.nvim_win_get_cursor(0),
    tick = api.nvim_buf_get_changedtick(selected.buf),
    lines = region.lines(selected, limit()),
  }
  latest, place = held.snapshot, api.nvim_get_current_win()
end

---@param buf integer
---@param win integer
---@return boolean
local function is_held(buf, win)
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
    if region.lines(held.region, limit()) ~= held.lines then
      return false
    end
    held.tick = tick
  end
  return held.snapshot.path == require("claude-code.editor.documents.path").of_buffer(buf)
end

---@param win integer
---@param buf integer
---@return claude-code.Snapshot
local function snapshot_in(win, buf)
  local selected = win == api.nvim_get_current_win() and region.live() or nil
  if selected then
    local tick = api.nvim_buf_get_changedtick(buf)
    seen = { region = selected, snapshot = snapshots.of_region(selected), tick = tick }
    return seen.snapshot
  elseif is_held(buf, win) then
    return held.snapshot
  end
  held = nil
  return snapshots.of_cursor(win)
end

---Brings `latest` up to date.
local function look()
  local win = api.nvim_get_current_win()
  local buf = file_in(win)
  if buf then
    place = win
  else
    buf = file_in(place)
  end
  if buf then
    latest = snapshot_in(place --[[@as integer]], buf)
  elseif latest and (not api.nvim_buf_is_loaded(latest.buf) or privacy.hides(latest.buf)) then
    latest, held = nil, nil
  end
end

local function push()
  look()
  if snapshots.same(latest, told) then
    return
  end
  told = latest
  local selection = snapshots.to_wire(latest, details_wanted)
  local sent = require("claude-code.editor.channel").notify("selection", selection)
  -- A client may have been sent it already, when it asked.
  if sent and client_count > 0 and not snapshots.same(latest, announced) then
    M.announce(selection)
  end
  announced = latest
end

local function begun()
  local buf = api.nvim_get_current_buf()
  visual = { buf = buf, tick = api.nvim_buf_get_changedtick(buf) }
  seen = nil
end

---@param mode claude-code.VisualMode
local function left(mode)
  local buf, began = file_in(api.nvim_get_current_win()), visual
  visual = nil
  -- Elsewhere: Neovim 0.10 takes the mode along into another buffer; `leaving` has seen to it.
  if not buf or (began and began.buf ~= buf) then
    return
  end
  held = nil
  -- What an operator has changed is selected no more.
  if not began or began.tick == api.nvim_buf_get_changedtick(buf) then
    local selected = region.left(mode)
    if selected then
      hold(selected)
    end
  end
end

local function entering()
  local win = api.nvim_get_current_win()
  local buf, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  entered = { win = win, buf = buf, cursor = cursor }
end

---On the way from one window to another, those in between are only passed; but where the cursor
---was moved, however quickly, the user was.
local function leaving()
  local win = api.nvim_get_current_win()
  local buf = file_in(win)
  if not buf then
    return
  end
  local selected = region.live()
  if selected then
    hold(selected)
  elseif
    entered
    and entered.win == win
    and (entered.buf ~= buf or not vim.deep_equal(entered.cursor, api.nvim_win_get_cursor(win)))
  then
    look()
  end
end

---Begins to follow the selection. What was selected before is still known after a stop.
function M.start()
  local options = require("claude-code.config").get().selection
  if not options.enabled then
    return M.stop()
  end
  running, told = true, nil
  require("claude-code.editor.channel").on_detach(M.stop)
  entering()
  watch.start(options.debounce_ms, {
    still = push,
    begun = begun,
    left = left,
    entering = entering,
    leaving = leaving,
  })
end

function M.stop()
  running, client_count = false, 0
  watch.stop()
end

---Begins anew, with the options as they are now.
---@param list { name?: string }[] the connected clients
function M.restart(list)
  M.start()
  if running then
    M.clients(list)
  end
end

---@param list { name?: string }[] the connected clients
function M.clients(list)
  client_count = #list
  details_wanted = vim.iter(list):any(function(client)
    return client.name ~= nil and client.name ~= "claude-code"
  end)
  watch.follow_cursor(client_count > 0)
end

---While a command line is open the cursor may be on a search's match.
local function refresh()
  if api.nvim_get_mode().mode:sub(1, 1) ~= "c" then
    look()
  end
end

---@return claude-code.Failure? refusal if nobody is to know what is selected
local function refusal()
  if not require("claude-code.config").get().selection.enabled then
    return {
      code = "selection_off",
      message = "Neovim tells nobody what is selected (option selection.enabled)",
    }
  end
end

---The visual selection of the current window, also if it shows no file.
---@return claude-code.Selection? selection nil outside of visual mode, or if its file is private
function M.here()
  local selected = not refusal() and region.live()
  if selected and not privacy.hides(selected.buf) then
    return snapshots.to_wire(snapshots.of_region(selected))
  end
end

---The selection of the file window that the user is in, or was before they went to a terminal or a
---list.
---@return claude-code.Selection? selection nil if there is no such window, or its file is private
---@return claude-code.Failure?
function M.now()
  if refusal() then
    return nil, refusal()
  elseif not running then
    return nil
  end
  refresh()
  local current = api.nvim_get_current_win()
  local is_special = vim.bo[api.nvim_win_get_buf(current)].buftype ~= ""
  if latest and file_in(is_special and place or current) then
    return snapshots.to_wire(latest)
  end
end

---What was selected last, also if its window is closed by now.
---@param params? { detailed?: boolean, for_client?: boolean } for_client: it is going to be sent
---@return claude-code.Selection?
---@return claude-code.Failure?
function M.latest(params)
  if refusal() then
    return nil, refusal()
  elseif not running then
    return nil
  end
  refresh()
  if not latest then
    return nil
  end
  local selection = snapshots.to_wire(latest, params and params.detailed)
  if params and params.for_client then
    announced = latest
    M.announce(selection)
  end
  return selection
end

---@param selection claude-code.Selection
function M.announce(selection)
  require("claude-code.events").emit("SelectionSent", {
    path = selection.path,
    text = selection.text,
    start = selection.start,
    ["end"] = selection["end"],
    mode = selection.mode,
  })
end

return M
