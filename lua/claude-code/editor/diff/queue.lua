--- The diffs that wait for an answer: one is on screen, the others wait for it, or for a pause in typing. While none is
--- on screen, keys in all windows show the next one. One that the user left undecided has a sign in its file's buffer,
--- and appears when they show one of its own buffers (CTRL-^, :buffer).
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local blocked = require("claude-code.editor.input.blocked")
local channel = require("claude-code.server.channel")
local config = require("claude-code.config")
local file_change = require("claude-code.editor.documents.file_change")
local focus = require("claude-code.editor.windows.focus")
local keyboard = require("claude-code.editor.input.keyboard")
local keys = require("claude-code.editor.diff.keys")
local layouts = require("claude-code.editor.diff.layout")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local windows = require("claude-code.editor.windows")

---Each message replaces the previous one.
local TOPIC = "diff"

local NEXT, PREVIOUS = "Show the proposal that waits", "Show the last proposal that waits"

local SIGNS = api.nvim_create_namespace("claude-code.diff.waiting")

---@class claude-code.DiffQueue
---@field waiting claude-code.Diff[] not on screen, the next one first
---@field shown? claude-code.Diff on screen, or ended and its windows about to close
---@field series { total: integer }
local queue = { waiting = {}, series = { total = 0 } }

local M = { NO_DIFF = "no diff is waiting for an answer" }

---@return claude-code.Diff[] all that are open; the one on screen comes last, or closing the others would show them
function M.all()
  local open = vim.list_slice(queue.waiting)
  open[#open + 1] = queue.shown and not queue.shown.outcome and queue.shown or nil
  return open
end

---@return claude-code.Diff? shown
function M.current()
  local shown = queue.shown
  return shown and not shown.outcome and not shown.postponed and shown or nil
end

---@return claude-code.Diff? open
function M.find(id)
  return vim.iter(M.all()):find(function(diff)
    return diff.proposal.id == id
  end)
end

---@param client? integer only of this one
---@return integer count of diffs that wait for the user
function M.count(client)
  return #vim.tbl_filter(function(diff)
    return not client or diff.proposal.client == client
  end, M.all())
end

---@return string words how the user shows one that waits
local function how_to_show()
  local mapping = vim.iter(api.nvim_get_keymap("n")):find(function(mapping)
    return mapping.desc == NEXT
  end)
  return (mapping and mapping.lhs .. " or " or "") .. ":Claude diff"
end

---Places the sign at the first line that the proposal would change.
local function place_sign(diff)
  local buf = path.loaded_buffer(diff.proposal.new_path)
  if buf then
    local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
    local same = file_change.between(lines, diff.proposal.proposed.lines, true).head
    local sign = { sign_text = "◇", sign_hl_group = "ClaudeCodeWarning", priority = 20 }
    api.nvim_buf_set_extmark(buf, SIGNS, math.min(same, #lines - 1), 0, sign)
  end
end

---@param postponed claude-code.Diff[] those that the user left undecided
local function update_signs(postponed)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    api.nvim_buf_clear_namespace(buf, SIGNS, 0, -1)
  end
  local events = autocommands.new("diff.waiting")
  if #postponed > 0 then
    events:on("BufReadPost", function()
      update_signs(postponed)
    end)
    vim.iter(postponed):each(place_sign)
  end
end

---Maps the keys that show a waiting diff, unless they are mapped already.
---@param is_wanted boolean false unmaps them
local function update_keys(is_wanted)
  local taken = {}
  for _, mapping in ipairs(api.nvim_get_keymap("n")) do
    if mapping.desc == NEXT or mapping.desc == PREVIOUS then
      vim.keymap.del("n", mapping.lhs)
    else
      taken[mapping.lhsraw] = true
    end
  end
  for action, step in pairs(is_wanted and { next_diff = 1, previous_diff = -1 } or {}) do
    for _, key in ipairs(keys.of(action)) do
      if not taken[vim.keycode(key)] then
        vim.keymap.set("n", key, function()
          M.switch(step)
        end, { desc = step > 0 and NEXT or PREVIOUS })
      end
    end
  end
end

---@param on_shown fun(buf: integer) the user showed one of its buffers
---@return fun() stop
local function watch_buffers(diff, on_shown)
  local events = autocommands.new(("diff.postponed.%d"):format(diff.proposal.id))
  local is_stopped = false
  local check = vim.schedule_wrap(function(buf)
    if not is_stopped and #vim.fn.win_findbuf(buf) > 0 then
      on_shown(buf)
    end
  end)
  for _, buf in ipairs(vim.tbl_filter(api.nvim_buf_is_loaded, diff.proposal:buffers())) do
    events:on("BufWinEnter", check, { buffer = buf })
  end
  return function()
    is_stopped = true
    events:stop()
  end
end

local function report(words, diff)
  notify.info(words:format(how_to_show(), diff.proposal:title()), TOPIC)
end

---Reports once that a diff waits until the user is done with typing, a float, a macro, or another plugin's question.
local function report_wait(diff)
  if not diff.reported then
    diff.reported = true
    report("%s shows %s: its change waits until you are done here", diff)
  end
end

---The next one to appear: the current session's diffs come first; those that the user postponed do not count.
local function next_up()
  local candidates = vim.tbl_filter(function(diff)
    return not diff.postponed
  end, queue.waiting)
  local current = #candidates > 1 and require("claude-code.sessions").current()
  return current
      and vim.iter(candidates):find(function(diff)
        return diff:session() == current
      end)
    or candidates[1]
end

local function update_signs_and_keys()
  update_signs(vim.tbl_filter(function(diff)
    return diff.postponed
  end, queue.waiting))
  update_keys(#queue.waiting > 0 and not queue.shown)
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

---A user who types keeps their window, which opening a tab page would leave.
local function can_show(diff)
  local may = focus.may_change(diff.asked_for)
  local in_terminal = vim.api.nvim_get_mode().mode == "t"
  if may ~= "no_focus" then
    return may == "all"
  elseif windows.is_floating(0) and not in_terminal then
    -- It may be a picker's prompt, about to open a file in the window behind it.
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
  update_signs_and_keys()
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
    update_signs_and_keys()
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

---Shows the next diff. Rejects one that cannot be shown: its client and the other diffs would wait for it forever.
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
function M.add(diff)
  if #queue.waiting == 0 and not queue.shown then
    queue.series = { total = 0 }
  end
  local series = queue.series
  series.total = series.total + 1
  diff.series, diff.number = series, series.total
  diff.postponed = config.get().diff.open == "waits" or nil
  table.insert(queue.waiting, diff)
  if diff.postponed then
    diff:emit("DiffWaiting")
    update_signs_and_keys()
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

---Closes a diff that has ended, and shows the next one.
---@param in_write? boolean its windows must wait until Neovim has written
function M.remove(diff, in_write)
  if diff ~= queue.shown then
    remove_waiting(diff)
    update_signs_and_keys()
    return diff.proposal:discard()
  end
  local is_users = diff.outcome ~= "closed"
  if is_users and diff.view:is_inside() then
    -- The user typed for this diff, so the next one need not wait.
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
function M.postpone(diff)
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
  diff.postponed = true
  diff.view:close({
    undecided = true,
    done = function()
      table.insert(queue.waiting, remove_shown())
      diff.unwatch = watch_buffers(diff, on_shown)
      show_next()
      local edits = diff.proposal:is_edited() and " with your edits; :q! there rejects it" or ""
      report("%s shows %s: its change waits" .. edits, diff)
    end,
  })
end

---Shows the diff in a layout that fits the available room. The cursor keeps its place.
function M.reopen(diff)
  local is_inside = diff == M.current() and diff.view:is_inside()
  if diff == M.current() and diff.view:hide() then
    table.insert(queue.waiting, 1, remove_shown())
    diff.asked_for, diff.no_focus = is_inside or nil, not is_inside
    show_next()
  end
end

---Shows another waiting diff, wherever the user is; the one on screen waits again, with the user's edits. Without
---another one, moves the cursor to it.
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
  queue.waiting[1].postponed, queue.waiting[1].asked_for = nil, true
  show_next()
end

return M
