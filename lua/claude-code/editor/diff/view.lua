--- The diff on screen: shows one, notices how it is left, and takes it away.
local api = vim.api
local accepted = require("claude-code.editor.diff.hunks.marks")
local blocked = require("claude-code.editor.windows.blocked")
local focus = require("claude-code.editor.windows.focus")
local freshness = require("claude-code.editor.diff.external_changes")
local keyboard = require("claude-code.editor.input.keyboard")
local keys = require("claude-code.editor.diff.keys")
local layouts = require("claude-code.editor.diff.layout")
local live = require("claude-code.editor.diff.refresh")
local own_tab = require("claude-code.editor.diff.tab")
local quiet = require("claude-code.editor.diff.input_lock")
local notify = require("claude-code.messages.notify")
local shots = require("claude-code.editor.windows.layout")
local winbar = require("claude-code.editor.diff.winbar")
local windows = require("claude-code.editor.windows")
local write = require("claude-code.editor.diff.write")

---How often a diff is looked at for what no event tells (the executable died, somebody closed a
---window with autocommands off), in ms.
local WATCHDOG_MS = 500

local M = {}

local origin ---@type claude-code.Origin where the person was
local group ---@type integer?
local watchdog ---@type uv.uv_timer_t?
local unfollow ---@type fun()? ends waiting for a pause, in which the focus is to be taken

---@class claude-code.DiffDecisions
---@field actions table<claude-code.DiffAction, fun()> what the keys do
---@field write fun(): boolean accept, called in the middle of a write; false: not accepted

---@return claude-code.DiffConfig
local function config()
  return require("claude-code.config").get().diff
end

---Windows and buffers came or went with autocommands off: whoever follows them is told.
local function touch()
  local state = package.loaded["claude-code.editor.sync"]
  if state then
    state.touch()
  end
end

---@param session claude-code.Diff
---@param except? integer window that must not change
local function make_windows(session, except)
  session:prepare()
  local wanted = config().layout
  local layout, name = layouts.pick(wanted, session, except)
  session.place = layout.open(session, except)
  session.place.layout = layout
  if name ~= wanted then
    -- Brief: it is read in narrow windows.
    notify.info(("shown %s: too little room for %q"):format(name, wanted))
  end
end

---Makes the windows; throws if that is not possible, with nothing left behind.
---@param session claude-code.Diff
---@param except? integer window that must not change
local function build(session, except)
  local ok, message = pcall(windows.noautocmd, function()
    make_windows(session, except)
  end)
  if ok then
    return
  end
  pcall(windows.noautocmd, function()
    if session.place then
      session.place.layout.close(session)
      session.place = nil
    end
  end)
  session:discard()
  error(message, 0)
end

---Counts and colours as the proposal is now, if it is on screen.
---@param session claude-code.Diff
function M.update(session)
  if not session:is_shown() then
    return
  end
  if session.place.layout.refresh then
    session.place.layout.refresh(session)
  end
  accepted.show(session)
  winbar.update(session)
end

---Every way of leaving the diff that is no accept rejects it.
---@param session claude-code.Diff
---@param reject fun()
local function review(session, reject)
  -- Without a place it waits again: this was scheduled before.
  local on_screen = session.place and not session.outcome
  if not on_screen or not require("claude-code.editor.channel").is_attached() then
    return
  end
  if not session.place.layout.intact(session) then
    reject()
  end
end

---@param session claude-code.Diff
---@param decide claude-code.DiffDecisions
local function hush(session, decide)
  quiet.hush(session, function()
    keys.attach(session, decide.actions)
  end)
end

---The diff follows what happens to the file.
---@param session claude-code.Diff
---@param decide claude-code.DiffDecisions
local function look_at_file(session, decide)
  if not session:is_shown() then
    return
  end
  local written, changed = freshness.look(session)
  if written and api.nvim_get_mode().mode == "n" then
    -- Who is about to accept has not seen what they would take back.
    hush(session, decide)
  end
  if changed then
    M.update(session)
    freshness.tell(session)
  end
end

---@param session claude-code.Diff
---@param decide claude-code.DiffDecisions
local function watch(session, decide)
  group = api.nvim_create_augroup("claude-code.diff", { clear = true })
  local look = vim.schedule_wrap(function()
    review(session, decide.actions.reject)
  end)
  local look_around = vim.schedule_wrap(function()
    review(session, decide.actions.reject)
    look_at_file(session, decide)
  end)
  for _, buf in ipairs({ session.old_buf, session.new_buf }) do
    local events = { "BufWinLeave", "BufUnload", "BufDelete", "BufWipeout", "BufHidden" }
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = look })
  end
  api.nvim_create_autocmd({ "WinClosed", "TabClosed", "BufWinEnter" }, {
    group = group,
    callback = look,
  })
  api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "WinResized" }, {
    group = group,
    callback = function()
      winbar.show(session)
    end,
  })
  api.nvim_create_autocmd({ "BufWritePost", "BufModifiedSet", "FileChangedShellPost" }, {
    group = group,
    callback = look_around,
  })
  if session.place.layout.attach then
    session.place.layout.attach(session)
  end
  local function follow()
    live.follow(session, function()
      M.update(session)
    end)
  end
  write.attach(session, group, decide.write, follow)
  follow()
  watchdog = assert(vim.uv.new_timer())
  watchdog:start(WATCHDOG_MS, WATCHDOG_MS, look_around)
end

---In terminal mode a prompt is being written, with pauses for thought.
---@return boolean
local function in_terminal()
  return api.nvim_get_mode().mode == "t"
end

---@return integer ms that the keyboard must be quiet for, so that nobody is in the middle of typing
local function needed_rest()
  return quiet.period() * (in_terminal() and 2 or 1)
end

---@return integer ms that are left of it
function M.unrest()
  return math.ceil(math.max(0, needed_rest() - keyboard.idle_ms()))
end

---How a diff may be shown now: to somebody who types in a terminal like to somebody in insert mode,
---under the cursor of somebody who types in normal mode not at all.
---@return claude-code.MayChange
local function moment_to_show()
  local moment = blocked.may_change()
  if moment ~= "all" or M.unrest() == 0 then
    return moment
  end
  -- A tab page of its own cannot be made without leaving the terminal.
  return in_terminal() and config().layout ~= "tab" and "no_focus" or "nothing"
end

---May a diff be shown now? A person who types keeps the window they type in.
---@return boolean
function M.has_room()
  local moment = moment_to_show()
  if moment == "no_focus" then
    if windows.is_floating(0) and not in_terminal() then
      -- A picker's prompt, most likely: it is about to open a file in the window behind it.
      return false
    end
    return windows.for_file(nil, api.nvim_get_current_win()) ~= nil and not windows.has_diff()
  end
  return moment == "all"
end

---Moves into a diff that appeared beside a terminal in which somebody types, once they pause there.
---@param session claude-code.Diff
---@param win integer the terminal's
---@param decide claude-code.DiffDecisions
local function follow_up(session, win, decide)
  unfollow = keyboard.after_idle(needed_rest(), function()
    unfollow = nil
    if api.nvim_get_current_win() == win and blocked.may_change() == "all" then
      origin = focus.origin()
      hush(session, decide)
      focus.take(session.place.focus, origin)
    end
  end)
end

---Is the cursor in one of the diff's windows, or in another that shows a side of it?
---@param session claude-code.Diff
---@return boolean
local function is_inside(session)
  local buf = api.nvim_get_current_buf()
  return vim.tbl_contains(session.place.windows, api.nvim_get_current_win())
    or buf == session.old_buf
    or buf == session.new_buf
end

---Shows a diff; throws if that is not possible, with nothing left behind.
---@param session claude-code.Diff
---@param decide claude-code.DiffDecisions
---@return boolean focused
function M.show(session, decide)
  local typing = moment_to_show() == "no_focus"
  local from = focus.origin()
  build(session, typing and from.win or nil)
  origin = from
  watch(session, decide)
  winbar.show(session)
  hush(session, decide)
  local focused = not typing and config().focus
  if focused then
    focus.take(session.place.focus, from)
  elseif typing and config().focus and in_terminal() then
    follow_up(session, from.win, decide)
  elseif is_inside(session) then
    -- A tab page of its own cannot be made without entering it.
    windows.noautocmd(function()
      focus.give_back(from, session.place.shot.previous)
    end)
  end
  touch()
  return focused
end

---Is the cursor in the diff on screen?
---@param session claude-code.Diff
---@return boolean
function M.is_inside(session)
  return session.place ~= nil and is_inside(session)
end

---Ends all watching: what happens to the windows from now on decides nothing.
---@param session claude-code.Diff
function M.unwatch(session)
  live.stop()
  quiet.stop(session)
  if unfollow then
    unfollow()
    unfollow = nil
  end
  if group then
    pcall(api.nvim_del_augroup_by_id, group)
    group = nil
  end
  if watchdog then
    watchdog:stop()
    watchdog:close()
    watchdog = nil
  end
end

---Windows that the person made of the diff's own, by splitting those.
---@param session claude-code.Diff
local function close_copies(session)
  for _, buf in ipairs({ session.old_buf, session.new_buf }) do
    for _, win in ipairs(vim.fn.win_findbuf(buf)) do
      if not vim.tbl_contains(session.place.windows, win) then
        windows.close(win)
      end
    end
  end
end

---@param session claude-code.Diff
---@param inside boolean
local function take_away(session, inside)
  close_copies(session)
  session.place.layout.close(session)
  own_tab.close(session.place.shot)
  if inside then
    focus.give_back(origin, session.place.shot.previous)
  end
  shots.restore(session.place.shot)
  session.place = nil
end

---Takes a diff away for a while, with the edits of it; only in a "free" moment.
---@param session claude-code.Diff
---@return boolean done
function M.park(session)
  if blocked.may_change() ~= "all" then
    return false
  end
  M.unwatch(session)
  windows.noautocmd(function()
    take_away(session, is_inside(session))
  end)
  return true
end

---Neovim ends: what is saved as a session just now shows the person's windows.
---@param session claude-code.Diff
function M.vanish(session)
  if session.place then
    M.unwatch(session)
    pcall(windows.noautocmd, function()
      take_away(session, is_inside(session))
    end)
  end
end

---Brings the person's windows back, as soon as the moment allows it.
---@param session claude-code.Diff
---@param done fun()
function M.leave(session, done)
  local function again()
    M.leave(session, done)
  end
  local moment, inside = blocked.may_change(), is_inside(session)
  if moment == "nothing" or (moment == "no_focus" and inside) then
    if moment == "no_focus" then
      blocked.to_normal_mode()
    end
    blocked.retry(again)
    return
  end
  local ok, message = pcall(windows.noautocmd, function()
    take_away(session, inside)
  end)
  if not ok and blocked.is_textlock_error(message) then
    blocked.retry(again)
    return
  elseif not ok then
    notify.error("closing a diff failed: " .. message)
  end
  session:discard()
  touch()
  done()
end

return M
