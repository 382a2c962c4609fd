--- Proposed edits, shown as diffs and answered once each: one is on screen, the others wait for it, or for a pause in
--- typing. The life of one is in diff.lua.
local blocked = require("claude-code.editor.input.blocked")
local channel = require("claude-code.server.channel")
local config = require("claude-code.config")
local diffs = require("claude-code.editor.diff.diff")
local focus = require("claude-code.editor.windows.focus")
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local layouts = require("claude-code.editor.diff.layout")
local text = require("claude-code.editor.diff.text")
local waiting = require("claude-code.editor.diff.waiting")
local windows = require("claude-code.editor.windows")

---Each report replaces the one before, which is out of date.
local TOPIC = "diff"

---@class claude-code.DiffQueue
---@field waiting claude-code.Diff[] not on screen, the next one first
---@field shown? claude-code.Diff on screen, or ended and its windows about to close
---@field series { total: integer }
local queue = { waiting = {}, series = { total = 0 } }

local M = { NO_DIFF = "no diff is waiting for an answer" }

---@class claude-code.DiffParams
---@field id integer
---@field client integer
---@field remote? string where the client runs, if not here
---@field old_path string
---@field new_path string
---@field contents string

---@return claude-code.Diff[] all that are open; the one on screen comes last, or closing the others would show them
local function all()
  local open = vim.list_slice(queue.waiting)
  open[#open + 1] = queue.shown and not queue.shown.outcome and queue.shown or nil
  return open
end

---@return claude-code.Diff? shown
function M.current()
  local shown = queue.shown
  return shown and not shown.outcome and not shown.aside and shown or nil
end

---@param id integer
---@return claude-code.Diff? open
function M.find(id)
  return vim.iter(all()):find(function(diff)
    return diff.proposal.id == id
  end)
end

---@param client? integer only of this one
---@return integer count of diffs that wait for the user
function M.count(client)
  return #vim.tbl_filter(function(diff)
    return not client or diff.proposal.client == client
  end, all())
end

require("claude-code.sessions.attention").count_diffs = M.count

local function report(words, diff)
  notify.info(words:format(waiting.ways(), diff.proposal:title()), TOPIC)
end

---Reports once that a diff waits until the user is done with typing, a float, a macro, or another plugin's question.
local function report_wait(diff)
  if not diff.reported then
    diff.reported = true
    report("%s shows %s: its change waits until you are done here", diff)
  end
end

---The next to appear: of the current session first; not one that is left undecided.
local function next_up()
  local candidates = vim.tbl_filter(function(diff)
    return not diff.aside
  end, queue.waiting)
  local current = #candidates > 1 and require("claude-code.sessions").current()
  return current
      and vim.iter(candidates):find(function(diff)
        return diff:session() == current
      end)
    or candidates[1]
end

local function update_ways()
  waiting.update_signs(vim.tbl_filter(function(diff)
    return diff.aside
  end, queue.waiting))
  waiting.update_keys(#queue.waiting > 0 and not queue.shown and M.switch or nil)
end

local function remove_waiting(diff)
  if diff.unwatch then
    diff.unwatch()
    diff.unwatch = nil
  end
  queue.waiting = vim.tbl_filter(function(other)
    return other ~= diff
  end, queue.waiting)
end

local function remove_shown()
  local diff = queue.shown --[[@as claude-code.Diff]]
  diff.view, queue.shown = nil, nil
  return diff
end

---A user who types keeps the window they type in, and a tab page cannot be made without leaving it.
local function can_show(diff)
  local may = focus.may_change(diff.asked_for)
  local in_terminal = vim.api.nvim_get_mode().mode == "t"
  if may ~= "no_focus" then
    return may == "all"
  elseif windows.is_floating(0) and not in_terminal then
    -- A picker's prompt, most likely: it is about to open a file in the window behind it.
    return false
  end
  local here, file = vim.api.nvim_get_current_win(), path.loaded_buffer(diff.proposal.new_path)
  return windows.for_file(nil, here) ~= nil
    and not windows.has_diff()
    and not layouts.needs_tab(config.get().diff.layout, file, here)
end

local show_next ---@type fun(decided?: boolean)

local function wait(diff)
  local ms = focus.ms_until_idle()
  -- Typing ends soon.
  if ms == 0 or blocked.may_change() ~= "all" then
    report_wait(diff)
  end
  blocked.retry(show_next, ms > 0 and ms or nil)
end

---Shows the next diff if none is on screen and windows may change.
---@param decided? boolean the user has just decided another one
---@return string? failure
local function try_next(decided)
  update_ways()
  local diff = next_up()
  if queue.shown or not diff then
    return
  elseif not can_show(diff) then
    return wait(diff)
  elseif not diff.asked_for and focus.is_busy(decided) then
    report_wait(diff)
    return focus.after_busy(show_next)
  end
  local ok, message = pcall(function()
    local focused = diff:show()
    queue.shown = diff
    remove_waiting(diff)
    update_ways()
    diff:report_shown(focused)
  end)
  if ok then
    return
  elseif blocked.is_textlock_error(message) then
    return wait(diff)
  end
  remove_waiting(diff)
  require("claude-code.messages.log").error("showing a diff failed: %s", message)
  return tostring(message):match("^[^\n]*")
end

---Shows the next diff. One that cannot be shown is rejected, or its client would wait for good, and so would those
---behind it.
---@param decided? boolean the user has just decided another one
function show_next(decided)
  local diff = next_up()
  local failure = try_next(decided)
  if failure then
    local message = "the change of %s was rejected because it cannot be shown: %s"
    notify.error(message:format(diff.proposal:title(), failure))
    diff:reject()
    show_next()
  end
end

---@return string? failure it cannot be shown, and is not in the queue
local function add(params)
  if #queue.waiting == 0 and not queue.shown then
    queue.series = { total = 0 }
  end
  local diff = diffs.new(params, M, queue.series)
  diff.aside = config.get().diff.open == "waits" or nil
  table.insert(queue.waiting, diff)
  if diff.aside then
    diff:emit("DiffWaiting")
    update_ways()
    if diff.number == 1 then
      report("%s shows a change of %s", diff)
    end
  end
  local is_next = not queue.shown and next_up() == diff
  local failure = is_next and try_next() or nil
  local shown = M.current()
  if shown then
    shown.view:show_bars()
  end
  return failure
end

---Claude then asks in its terminal, and the user reads why.
local function refuse(failure)
  notify.warn(failure .. ": decide where Claude asks you", TOPIC)
  return nil, failure
end

---Queues a proposal. Returns at once; its end is reported as `diff_ended`.
---@param params claude-code.DiffParams
---@return nil
---@return claude-code.Failure?
function M.open(params)
  if config.get().diff.open == "never" then
    return nil, "the user wants no diff in Neovim (diff.open)"
  end
  local title = path.title(params.new_path)
  local stat = vim.uv.fs_stat(params.new_path)
  if stat and stat.type == "directory" then
    return refuse(title .. " is a folder")
  end
  local problem = text.too_big(params.contents)
    or text.file_too_big(params.new_path)
    or text.file_too_big(params.old_path)
  if problem then
    return refuse(("%s is too big for a diff (%s)"):format(title, problem))
  end
  channel.on_detach(M.abandon)
  require("claude-code.sessions.leaving").watch()
  local failure = add(params)
  if failure then
    return refuse(("the change of %s cannot be shown: %s"):format(title, failure))
  end
end

---Closes a diff that has ended, and shows the next one.
---@param diff claude-code.Diff
---@param in_write? boolean its windows must wait until Neovim has written
function M.remove(diff, in_write)
  if diff ~= queue.shown then
    remove_waiting(diff)
    update_ways()
    return diff.proposal:discard()
  end
  local is_users = diff.outcome ~= "closed"
  if is_users and diff.view:is_inside() then
    -- Typed for this diff: the next one need not wait.
    keyboard.reset()
  end
  diff.view:close({
    in_write = in_write,
    -- The terminal's program does not know that the connection is lost: it would take the next key.
    back_to_terminal = is_users and channel.is_attached(),
    done = function()
      remove_shown()
      show_next(is_users)
    end,
  })
end

---Takes the diff off the screen undecided; it waits until the user shows it again.
---@param diff claude-code.Diff
function M.put_aside(diff)
  if diff ~= M.current() then
    return
  end
  local function on_shown(buf)
    windows.noautocmd(function()
      windows.replace_buffer(buf)
    end)
    remove_waiting(diff)
    table.insert(queue.waiting, 1, diff)
    M.switch(1)
  end
  diff.aside = true
  diff.view:close({
    undecided = true,
    done = function()
      table.insert(queue.waiting, remove_shown())
      diff.unwatch = waiting.watch_buffers(diff, on_shown)
      show_next()
      local edits = diff.proposal:is_edited() and " with your edits; :q! there rejects it" or ""
      report("%s shows %s: its change waits" .. edits, diff)
    end,
  })
end

---Shows the diff again, as there is room for another layout only. The cursor stays where it is.
---@param diff claude-code.Diff
function M.lay_out_again(diff)
  local is_inside = diff == M.current() and diff.view:is_inside()
  if diff == M.current() and diff.view:hide() then
    table.insert(queue.waiting, 1, remove_shown())
    diff.asked_for, diff.stays = is_inside or nil, not is_inside
    show_next()
  end
end

---Shows another of the diffs that wait, wherever the user is; the one on screen waits again, with the user's edits. If
---it is the only one the cursor moves there.
---@param step 1|-1
function M.switch(step)
  local shown, is_open = queue.shown, M.current() ~= nil
  if shown and is_open and #queue.waiting == 0 and not shown.view:is_inside() then
    return shown.view:enter(true)
  elseif #queue.waiting == 0 then
    return notify.info(is_open and "there is no other proposal" or M.NO_DIFF, TOPIC)
  elseif shown and not (is_open and shown.view:hide()) then
    return
  elseif shown then
    table.insert(queue.waiting, step > 0 and #queue.waiting + 1 or 1, remove_shown())
  end
  if step < 0 then
    table.insert(queue.waiting, 1, table.remove(queue.waiting))
  end
  keyboard.reset()
  queue.waiting[1].aside, queue.waiting[1].asked_for = nil, true
  show_next()
end

---@return integer count of diffs that this rejected
function M.reject_all()
  local open = all()
  for _, diff in ipairs(open) do
    diff:reject()
  end
  return #open
end

---Closes diffs that the executable has answered: Claude asks for that, or is gone.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  return #vim.tbl_filter(function(diff)
    return vim.list_contains(params.ids, diff.proposal.id) and diff:close("Claude closed the diff")
  end, all())
end

---The executable is gone: no one waits for an answer any more.
function M.abandon()
  for _, diff in ipairs(all()) do
    diff:close("the connection to Claude ended")
  end
end

---Fills a buffer of a diff again, which Neovim has emptied (`:edit!`): there is no file of its name to read.
---@return boolean filled
function M.refill(buf)
  return vim.iter(all()):any(function(diff)
    return diff:refill(buf)
  end)
end

---Neovim ends: the answers are sent, and :mksession saves the user's windows.
function M.exit()
  for _, diff in ipairs(all()) do
    diff:exit()
  end
end

return M
