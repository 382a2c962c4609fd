--- The diffs that wait for a person: one is shown, the others queue. Each is answered once.
local api = vim.api
local calm = require("claude-code.editor.diff.calm")
local focus = require("claude-code.editor.diff.focus")
local keys = require("claude-code.editor.diff.keys")
local path = require("claude-code.editor.path")
local say = require("claude-code.editor.say")
local winbar = require("claude-code.editor.diff.winbar")
local windows = require("claude-code.editor.diff.windows")
local write = require("claude-code.editor.diff.write")

---How often a shown diff is looked at for what no event tells (the executable died, somebody
---closed a window with autocommands off), in ms.
local WATCHDOG_MS = 500

local M = {}

local waiting = {} ---@type claude-code.Diff[] not shown yet, the next one first
local shown ---@type claude-code.Diff? on screen, or ended and about to leave it
local origin ---@type claude-code.Origin?
local group ---@type integer?
local watchdog ---@type uv.uv_timer_t?
---How many of a series have ended; a series lasts until none waits.
local ended = 0

local advance, finish

---@return claude-code.DiffLayoutModule
local function layout()
  local ok, config = pcall(require, "claude-code.config")
  local name = ok and config.get().diff.layout or "vertical"
  return require("claude-code.editor.diff.layout." .. name)
end

---@return boolean
local function may_focus()
  local ok, config = pcall(require, "claude-code.config")
  return not ok or config.get().diff.focus ~= false
end

---@param event "DiffOpened"|"DiffAccepted"|"DiffRejected"|"DiffClosed"
---@param session claude-code.Diff
local function emit(event, session)
  local ok, events = pcall(require, "claude-code.events")
  if ok then
    events.emit(event, { id = session.id, client = session.client, path = session.new_path })
  end
end

local function refresh_winbar()
  if shown and shown.place and not shown.outcome then
    winbar.show(shown, ended + 1, ended + 1 + #waiting)
  end
end

---Windows back, buffers gone, next one. Waits for a moment in which that may happen.
local function leave_screen()
  local session = shown
  if not session then
    return
  end
  local moment = calm.moment()
  local inside = focus.is_inside(session)
  if moment == "blocked" or (moment == "typing" and inside) then
    if moment == "typing" then
      calm.stop_typing()
    end
    calm.later(leave_screen)
    return
  end
  local ok, message = pcall(windows.quietly, function()
    session.place.layout.close(session)
    if inside and origin then
      focus.give_back(origin, session.place.shot)
    end
    windows.resize_back(session.place.shot)
    session:discard()
  end)
  if not ok and calm.is_refusal(message) then
    calm.later(leave_screen)
    return
  end
  shown, origin = nil, nil
  if not ok then
    say.error("closing a diff failed: " .. message)
    pcall(session.discard, session)
  end
  M.changed()
  advance()
end

local function unwatch()
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

---Every way of leaving the diff that is no accept rejects it.
local function review()
  local session = shown
  if not session or session.outcome then
    return
  end
  if not require("claude-code.editor").is_attached() then
    return
  end
  if not session.place.layout.intact(session) then
    finish(session, "rejected")
  end
end

---@param session claude-code.Diff
local function watch(session)
  group = api.nvim_create_augroup("claude-code.diff", { clear = true })
  local function check()
    vim.schedule(review)
  end
  for _, buf in ipairs({ session.old_buf, session.new_buf }) do
    local events = { "BufWinLeave", "BufUnload", "BufDelete", "BufWipeout", "BufHidden" }
    api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = check })
  end
  api.nvim_create_autocmd({ "WinClosed", "TabClosed", "BufWinEnter" }, {
    group = group,
    callback = check,
  })
  write.attach(session, group, function()
    -- The write is still going on.
    finish(session, "accepted", vim.schedule)
  end)
  watchdog = assert(vim.uv.new_timer())
  watchdog:start(WATCHDOG_MS, WATCHDOG_MS, vim.schedule_wrap(review))
end

---@param session claude-code.Diff
---@param focused boolean
local function announce(session, focused)
  local base = path.base(session.new_path)
  if session.unsaved then
    say.warn(base .. " has unsaved edits: they are kept; the diff is against the file on disk")
  elseif not focused then
    say.info(("a proposed change of %s waits in another window"):format(base))
  end
  emit("DiffOpened", session)
end

---Makes the windows; throws if that is not possible, with nothing left behind.
---@param session claude-code.Diff
---@param except? integer window that must not change
local function build(session, except)
  local chosen = layout()
  local ok, message = pcall(windows.quietly, function()
    session:prepare()
    session.place = chosen.open(session, except)
    session.place.layout = chosen
  end)
  if ok then
    return
  end
  pcall(windows.quietly, function()
    if session.place then
      chosen.close(session)
      session.place = nil
    end
    session:discard()
  end)
  error(message, 0)
end

---@param session claude-code.Diff
---@param moment claude-code.Moment
local function show(session, moment)
  local from = focus.origin()
  local except = moment == "typing" and from.win or nil
  build(session, except)
  shown, origin = session, from
  table.remove(waiting, 1)
  keys.attach(session, {
    accept = function()
      finish(session, "accepted")
    end,
    reject = function()
      finish(session, "rejected")
    end,
  })
  watch(session)
  local focused = moment == "free" and may_focus()
  if focused then
    focus.take(session, from)
  elseif focus.is_inside(session) then
    -- A tab page of its own cannot be made without entering it.
    windows.quietly(function()
      focus.give_back(from, session.place.shot)
    end)
  end
  refresh_winbar()
  M.changed()
  announce(session, focused)
end

---@param session claude-code.Diff
local function wait(session)
  if not session.announced then
    session.announced = true
    say.info(
      ("a proposed change of %s waits until you leave this mode"):format(
        path.base(session.new_path)
      )
    )
  end
  calm.later(advance)
end

---Shows the next diff if none is on screen and the moment allows it.
---@return string? failure
function advance()
  local session = waiting[1]
  if shown or not session then
    if not shown then
      ended = 0
    end
    return
  end
  local moment = calm.moment()
  local typing_in = moment == "typing" and api.nvim_get_current_win() or nil
  -- A person who types needs another window for the diff, one that is no diff of somebody else's.
  local room = not typing_in or (windows.for_file(nil, typing_in) and not windows.has_diff())
  if moment == "blocked" or not room then
    return wait(session)
  end
  local ok, message = pcall(show, session, moment)
  if ok then
    return
  elseif calm.is_refusal(message) then
    return wait(session)
  end
  M.drop(session)
  return message
end

---@param session claude-code.Diff
function M.drop(session)
  waiting = vim.tbl_filter(function(other)
    return other ~= session
  end, waiting)
end

---@param session claude-code.Diff
---@param outcome claude-code.DiffOutcome
local function tell(session, outcome)
  if outcome == "closed" then
    return emit("DiffClosed", session)
  end
  local accepted = outcome == "accepted"
  local lines = accepted and session:edited_lines() or nil
  require("claude-code.editor").notify("diff_ended", {
    id = session.id,
    outcome = outcome,
    lines = lines,
  })
  if accepted then
    require("claude-code.editor.reload").watch({ path = session.new_path })
  end
  emit(accepted and "DiffAccepted" or "DiffRejected", session)
end

---Ends a diff, whatever its state; a second end does nothing.
---@param session claude-code.Diff
---@param outcome claude-code.DiffOutcome
---@param run? fun(callback: fun()) how to call what closes the windows
---@return boolean ended by this call
function finish(session, outcome, run)
  if session.outcome then
    return false
  end
  session.outcome = outcome
  tell(session, outcome)
  ended = ended + 1
  if session == shown then
    unwatch();
    (run or function(callback)
      callback()
    end)(leave_screen)
  else
    M.drop(session)
    refresh_winbar()
  end
  return true
end

---@param id? integer
---@return claude-code.Diff? session the one with this id, or the one on screen
local function find(id)
  if shown and not shown.outcome and (id == nil or shown.id == id) then
    return shown
  end
  for _, session in ipairs(waiting) do
    if session.id == id then
      return session
    end
  end
end

---Queues a proposal. Returns at once; the end comes as `diff_ended`.
---@param params claude-code.DiffParams
---@return true?
---@return claude-code.Failure?
function M.open(params)
  local stat = vim.uv.fs_stat(params.new_path)
  if stat and stat.type == "directory" then
    return nil, params.new_path .. " is a folder"
  end
  local session = require("claude-code.editor.diff.session").new(params)
  waiting[#waiting + 1] = session
  local failure = #waiting == 1 and advance() or nil
  refresh_winbar()
  M.changed()
  if failure then
    return nil, ("cannot show the change of %s: %s"):format(path.base(params.new_path), failure)
  end
  return true
end

---Ends diffs that the executable has answered itself.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  local wanted = {}
  for _, id in ipairs(params.ids) do
    wanted[id] = true
  end
  -- The one on screen last, or the others would flash up behind it.
  local sessions = vim.list_extend(vim.list_slice(waiting), { shown })
  local count = 0
  for _, session in ipairs(sessions) do
    if wanted[session.id] and finish(session, "closed") then
      count = count + 1
    end
  end
  return count
end

---@param id? integer without it the diff on screen
---@return boolean done false if there is none
function M.accept(id)
  local session = find(id)
  return session ~= nil and finish(session, "accepted")
end

---@param id? integer without it the diff on screen
---@return boolean done false if there is none
function M.reject(id)
  local session = find(id)
  return session ~= nil and finish(session, "rejected")
end

---The executable is gone: nobody waits for an answer any more.
function M.abandon()
  for _, session in ipairs(vim.list_slice(waiting)) do
    finish(session, "closed")
  end
  if shown then
    finish(shown, "closed")
  end
end

---@return claude-code.Diff? shown
function M.current()
  return find()
end

---@return integer count of diffs that wait for a person
function M.count()
  return #waiting + (find() and 1 or 0)
end

---Windows and buffers came or went with autocommands off: whoever follows them is told.
function M.changed()
  local state = package.loaded["claude-code.editor.state"]
  if state then
    state.touch()
  end
end

api.nvim_create_autocmd("VimLeavePre", {
  group = api.nvim_create_augroup("claude-code.diff.exit", { clear = true }),
  callback = function()
    for _, session in ipairs(vim.list_extend({ shown }, waiting)) do
      if not session.outcome then
        session.outcome = "rejected"
        tell(session, "rejected")
      end
    end
  end,
})

return M
