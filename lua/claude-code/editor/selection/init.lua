--- Follows the user's selection, or the cursor, in the last file window, and sends it to the executable. Terminals,
--- lists, scratch buffers, diffs, prompts, commit messages and private files never replace it. Users leave visual mode
--- to write to Claude about their selection, so it remains until the cursor moves or its lines change.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local channel = require("claude-code.server.channel")
local config = require("claude-code.config")
local path = require("claude-code.editor.documents.path")
local privacy = require("claude-code.editor.privacy")
local snapshots = require("claude-code.editor.selection.snapshot")
local timer = require("claude-code.lib.timer")
local visual = require("claude-code.editor.selection.visual")

local VISUAL = "[vV\22sS\19]*"

---A selection is sent once it has not changed for this long (spec 03, SEL-02).
local M = { DEBOUNCE_MS = 300 }

---@class claude-code.SelectionWatch
---@field events claude-code.Autocommands
---@field cursor? claude-code.Autocommands
---@field touch fun() restarts the debounce time
---@field cancel_touch fun()

---@class claude-code.HeldSelection visual selection that remains after visual mode
---@field region claude-code.VisualRegion
---@field snapshot claude-code.Snapshot
---@field cursor { [1]: integer, [2]: integer } as returned by nvim_win_get_cursor
---@field lines string text of all touched lines: an edit elsewhere does not end the selection

local watch ---@type claude-code.SelectionWatch? nil: the selection is not followed
local sent ---@type claude-code.Snapshot? selection that the executable knows
local latest ---@type claude-code.Snapshot?
local file_win ---@type integer? last file window of the user
local held ---@type claude-code.HeldSelection?
local visual_start ---@type { buf: integer, tick: integer }? state when visual mode began
local entered ---@type { win: integer, buf: integer, cursor: { [1]: integer, [2]: integer } }?

local function place()
  local win = api.nvim_get_current_win()
  local buf, cursor = api.nvim_win_get_buf(win), api.nvim_win_get_cursor(win)
  return { win = win, buf = buf, cursor = cursor }
end

---@return integer? buf nil unless the window shows a file that Claude may see
local function file_in(win)
  if not win or not api.nvim_win_is_valid(win) then
    return nil
  end
  local buf = api.nvim_win_get_buf(win)
  local name = path.of_buffer(buf)
  -- The plugin's log is not the user's work.
  local is_wanted = name and name ~= path.normal(require("claude-code.messages.log").path())
  return is_wanted and not path.is_message(buf) and not privacy.hides(buf) and buf or nil
end

local function hold(region)
  held = {
    region = region,
    snapshot = snapshots.of_region(region),
    cursor = api.nvim_win_get_cursor(0),
    lines = visual.lines(region),
  }
  latest, file_win = held.snapshot, api.nvim_get_current_win()
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

---Updates `latest`, except in a command line, where the cursor may be on the match of a search ('incsearch').
local function update()
  if api.nvim_get_mode().mode:sub(1, 1) == "c" then
    return
  end
  local win = api.nvim_get_current_win()
  file_win = file_in(win) and win or file_win
  local buf = file_in(file_win)
  if buf then
    latest = snapshot_in(file_win, buf)
  elseif latest and (not api.nvim_buf_is_loaded(latest.buf) or privacy.hides(latest.buf)) then
    latest, held = nil, nil
  end
end

---@param mode claude-code.VisualMode that has ended
local function leave_visual(mode)
  local buf, start = file_in(api.nvim_get_current_win()), visual_start
  visual_start = nil
  -- TODO(0.10): visual mode continues in another buffer; `leave_window` has handled that.
  if not buf or (start and start.buf ~= buf) then
    return
  end
  held = nil
  -- If an operator has changed the text, it is no longer selected.
  local is_same = not start or start.tick == api.nvim_buf_get_changedtick(buf)
  local region = is_same and visual.last(mode)
  if region then
    hold(region)
  end
end

local function enter_window()
  entered = place()
end

---Updates the selection if the cursor was moved in this window: the user may just be passing through.
local function leave_window()
  local now, region = place(), visual.current()
  if not file_in(now.win) then
    return
  elseif region then
    hold(region)
  elseif entered and entered.win == now.win and not vim.deep_equal(entered, now) then
    update()
  end
end

local function clients()
  return require("claude-code.server").clients
end

local function emit(selection)
  require("claude-code.lib.events").emit("SelectionSent", {
    path = selection.path,
    text = selection.text,
    start = selection.start,
    ["end"] = selection["end"],
    mode = selection.mode,
  })
end

---@return "file"|"selection"|"none"
local function option()
  return config.get().selection.send
end

---@return claude-code.Snapshot? shared latest selection, if the option allows it
local function shared()
  return (option() == "file" or latest and latest.text ~= "") and latest or nil
end

---Sends the latest selection to all clients, unless they know it.
local function push()
  if snapshots.same(shared(), sent) then
    return false
  end
  sent = shared()
  -- Claude Code does not use the details, which are expensive.
  local is_detailed = vim.iter(clients()):any(function(client)
    return client.name ~= nil and client.name ~= "claude-code"
  end)
  local selection = snapshots.to_wire(sent, is_detailed)
  if channel.notify("selection", selection) and #clients() > 0 then
    emit(selection)
  end
  return true
end

---Starts again with new options.
local function restart()
  if channel.is_attached() then
    M.start()
  end
end

---@param change string "OLD:NEW", the match of ModeChanged
local function on_mode_changed(change)
  local before, after = change:match("^(.-):(.*)$")
  local was, is = visual.mode(before), visual.mode(after)
  if is and not was then
    local buf = api.nvim_get_current_buf()
    visual_start = { buf = buf, tick = api.nvim_buf_get_changedtick(buf) }
  elseif was and not is then
    leave_visual(was)
  end
end

---@return claude-code.Autocommands events that may change the selection
local function follow(touch)
  local events = autocommands.new("selection")
  events:on("ModeChanged", function(_, args)
    on_mode_changed(args.match)
    touch()
  end, { pattern = ("{%s:*,*:%s}"):format(VISUAL, VISUAL) })
  -- CmdlineLeave, since movements in a command line ('incsearch') did not count.
  events:on({ "BufEnter", "BufUnload", "BufFilePost", "CmdlineLeave" }, touch)
  events:on("WinEnter", function()
    enter_window()
    touch()
  end)
  events:on("WinLeave", leave_window)
  return events
end

---Follows cursor movements only while there is a client. Call it when clients have changed.
function M.follow_cursor()
  if not watch then
    return
  elseif #clients() == 0 then
    watch.cursor = watch.cursor and watch.cursor:stop()
  elseif not watch.cursor then
    watch.cursor = autocommands.new("selection.cursor")
    watch.cursor:on({ "CursorMoved", "CursorMovedI", "TextChanged" }, watch.touch)
  end
end

---Follows the selection, unless the option selection.send is "none".
function M.start()
  M.stop()
  config.on_change("selection", restart)
  config.on_change("privacy", restart)
  if option() == "none" then
    return
  end
  channel.on_detach(M.stop)
  sent = nil
  -- The user may already have left the file with `:Claude`.
  file_win = file_win or require("claude-code.editor.windows").for_file()
  enter_window()
  local touch, cancel_touch = timer.debounce(M.DEBOUNCE_MS, function()
    update()
    push()
  end)
  watch = { touch = touch, cancel_touch = cancel_touch, events = follow(touch) }
  M.follow_cursor()
  touch()
end

function M.stop()
  if watch then
    watch.cancel_touch()
    watch.events:stop()
    if watch.cursor then
      watch.cursor:stop()
    end
    watch = nil
  end
end

---@return claude-code.Failure? refusal if the user does not share the selection
local function refusal()
  if option() == "none" then
    local message = "Neovim does not share its selection (option selection.send)"
    return { code = "selection_off", message = message }
  end
end

---@return claude-code.Snapshot? selection, claude-code.Failure? nil without a file window, or if its file is private
function M.now()
  if refusal() or not watch then
    return nil, refusal()
  end
  update()
  local current = api.nvim_get_current_win()
  -- From a terminal or a list, answer with the last file window.
  local is_special = vim.bo[api.nvim_win_get_buf(current)].buftype ~= ""
  if shared() and file_in(is_special and file_win or current) then
    return shared()
  end
end

---Finds the selection of the current window, whatever it shows, or else that of the last file window.
function M.region()
  local region = not refusal() and visual.current()
  if region and not require("claude-code.editor.methods.cursor").refusal() then
    return snapshots.region(snapshots.of_region(region))
  end
  return snapshots.region((M.now()))
end

---Finds the last selection, even if its window has been closed.
function M.latest(params)
  if refusal() or not watch then
    return nil, refusal()
  end
  update()
  -- A push reaches that client, too. It also reports that a selection has ended: otherwise the same selection would not
  -- be sent again later.
  local is_pushed = params and params.for_client and push()
  if not shared() then
    return nil
  end
  local selection = snapshots.to_wire(shared(), params and params.detailed)
  if params and params.for_client and not is_pushed then
    emit(selection)
  end
  return selection
end

---@return string? text for the status line about the selection that Claude knows: "⧉ 3 lines", "⧉ main.lua"
function M.mark()
  if not sent or #clients() == 0 then
    return nil
  elseif sent.text == "" then
    return "⧉ " .. vim.fs.basename(sent.path)
  end
  local last = sent["end"]
  local count = last.line - sent.start.line + (last.character > 0 and 1 or 0)
  return count > 1 and ("⧉ %d lines"):format(count) or "⧉ 1 line"
end

return M
