--- Sends what the user has selected to the executable, and answers when it asks.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local channel = require("claude-code.server.channel")
local snapshots = require("claude-code.editor.selection.snapshot")
local timer = require("claude-code.lib.timer")
local tracker = require("claude-code.editor.selection.tracker")
local visual = require("claude-code.editor.selection.visual")

local VISUAL = "[vV\22sS\19]*"

local M = {
  ---A selection is sent once it has not changed for this long (spec 03, SEL-02).
  DEBOUNCE_MS = 300,
}

---@class claude-code.SelectionWatch
---@field events claude-code.Autocommands
---@field cursor? claude-code.Autocommands
---@field touch fun() begins the debounce time again
---@field cancel_touch fun()

local watch ---@type claude-code.SelectionWatch? while it runs
local sent ---@type claude-code.Snapshot? what the executable knows

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

---Claude Code does not use what is costly to find out.
local function are_details_wanted()
  return vim.iter(clients()):any(function(client)
    return client.name ~= nil and client.name ~= "claude-code"
  end)
end

local function option()
  return require("claude-code.config").get().selection.send
end

---What Claude may know of the latest selection, by the option selection.send.
local function shared()
  local latest = tracker.latest
  return (option() == "file" or latest and latest.text ~= "") and latest or nil
end

---Sends the latest selection to all clients, if it is another than before.
local function push()
  if snapshots.same(shared(), sent) then
    return false
  end
  sent = shared()
  local selection = snapshots.to_wire(sent, are_details_wanted())
  if channel.notify("selection", selection) and #clients() > 0 then
    emit(selection)
  end
  return true
end

local function idle()
  tracker.update()
  push()
end

---Starts again with the options as they are now.
local function restart()
  if channel.is_attached() then
    M.start()
  end
end

---@param change string "OLD:NEW", as ModeChanged gives it
local function on_mode_changed(change)
  local before, after = change:match("^(.-):(.*)$")
  local was, is = visual.mode(before), visual.mode(after)
  if is and not was then
    tracker.visual_enter()
  elseif was and not is then
    tracker.visual_leave(was)
  end
end

---@return claude-code.Autocommands events after which something else may be selected
local function follow(touch)
  local events = autocommands.new("selection")
  events:on("ModeChanged", function(_, args)
    on_mode_changed(args.match)
    touch()
  end, { pattern = ("{%s:*,*:%s}"):format(VISUAL, VISUAL) })
  -- CmdlineLeave: what happened while a command line was open ('incsearch') did not count.
  events:on({ "BufEnter", "BufUnload", "BufFilePost", "CmdlineLeave" }, touch)
  events:on("WinEnter", function()
    tracker.win_enter()
    touch()
  end)
  events:on("WinLeave", tracker.win_leave)
  return events
end

---Follows cursor movements while there is a client, or stops following them: called when that may have changed.
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

---Begins to follow the selection, unless the option selection.send is "none".
function M.start()
  M.stop()
  local config = require("claude-code.config")
  config.on_change("selection", restart)
  config.on_change("privacy", restart)
  if option() == "none" then
    return
  end
  channel.on_detach(M.stop)
  sent = nil
  -- `:Claude` right after the start has left the file already.
  tracker.file_win = tracker.file_win or require("claude-code.editor.windows").for_file()
  tracker.win_enter()
  local touch, cancel_touch = timer.debounce(M.DEBOUNCE_MS, idle)
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

---@return claude-code.Failure? refusal if the selection is kept from everybody
local function refusal()
  if option() == "none" then
    return {
      code = "selection_off",
      message = "Neovim does not share its selection (option selection.send)",
    }
  end
end

---The visual selection of the current window, also if it shows no file.
---@return claude-code.Snapshot? selection nil outside of visual mode, or if Claude may not see it
local function here()
  local region = not refusal() and visual.current()
  if region and not require("claude-code.editor.methods.cursor").refusal() then
    return snapshots.of_region(region)
  end
end

---The selection of the file window that the user is in, or was in before they went to a terminal or a
---list.
---@return claude-code.Snapshot? selection nil if there is no such window, or its file is private
---@return claude-code.Failure?
function M.now()
  if refusal() or not watch then
    return nil, refusal()
  end
  tracker.update()
  local current = api.nvim_get_current_win()
  local is_special = vim.bo[api.nvim_win_get_buf(current)].buftype ~= ""
  if shared() and tracker.file_in(is_special and tracker.file_win or current) then
    return shared()
  end
end

---What is selected in the current window, whatever it shows. If nothing is, and the window shows no
---file, the user has gone to Claude's terminal, or a list: then what is selected in the file window
---they were in before.
---@return claude-code.Region
function M.region()
  return snapshots.region(here() or M.now())
end

---What was selected last, also if its window is closed by now.
---@param params? { detailed?: boolean, for_client?: boolean } for_client: one client is about to
---receive it, whatever it received before
---@return claude-code.Selection?
---@return claude-code.Failure?
function M.latest(params)
  if refusal() or not watch then
    return nil, refusal()
  end
  tracker.update()
  -- A push reaches that client too. It says, too, that nothing is selected any more: otherwise the same
  -- selection would not be sent again after that.
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

---@return string? text what Claude knows just now, for the status line: "⧉ 3 lines", "⧉ main.lua"
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
