--- The diffs that are open: one is on screen, the others wait for it, or for a pause in typing. Those that wait come
--- back by keys in any window, and those that the user left also by showing one of their buffers.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local blocked = require("claude-code.editor.input.blocked")
local channel = require("claude-code.server.channel")
local config = require("claude-code.config")
local diffs = require("claude-code.editor.diff.diff")
local file_change = require("claude-code.editor.documents.file_change")
local keyboard = require("claude-code.editor.input.keyboard")
local keys = require("claude-code.editor.diff.keys")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local when = require("claude-code.editor.diff.when")
local windows = require("claude-code.editor.windows")

---What is reported here replaces what was reported before: it is out of date.
local TOPIC = "diff"

---Of the keys that show a diff that waits, in all windows.
local NEXT, PREVIOUS = "Show the proposal that waits", "Show the last proposal that waits"

local SIGNS = api.nvim_create_namespace("claude-code.diff.waiting")

---@class claude-code.DiffQueue
---@field waiting claude-code.Diff[] not on screen, the next one first
---@field shown? claude-code.Diff on screen, or ended and its windows about to close
---@field series { total: integer }
local queue = { waiting = {}, series = { total = 0 } }

local M = {}

---@return string words how the user shows one that waits
local function ways_back()
  local mapping = vim.iter(api.nvim_get_keymap("n")):find(function(mapping)
    return mapping.desc == NEXT
  end)
  return (mapping and mapping.lhs .. " or " or "") .. ":Claude diff"
end

local function place_sign(diff)
  local buf, proposed = path.loaded_buffer(diff.proposal.new_path), diff.proposal.proposed.lines
  if not buf then
    return
  end
  local lines = api.nvim_buf_get_lines(buf, 0, -1, false)
  local same = file_change.between(lines, proposed, true).head
  api.nvim_buf_set_extmark(buf, SIGNS, math.min(same, #lines - 1), 0, {
    sign_text = "◇",
    sign_hl_group = "ClaudeCodeWarning",
    priority = 20,
  })
end

---Reports once that a diff waits for what the user is in the middle of: typing, a float, a macro, another plugin's
---question.
local function report_wait(diff)
  if not diff.reported then
    diff.reported = true
    local text = "%s shows %s: its change waits until you are done here"
    notify.info(text:format(ways_back(), diff.proposal:title()), TOPIC)
  end
end

---Those of the current session come first, each session's in their order.
---@return claude-code.Diff? diff that is shown by itself; not one that the user left undecided
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

---A sign stands in the buffer of each file whose proposal the user left, at the first line that it would change.
local function update_signs()
  local aside = vim.tbl_filter(function(diff)
    return diff.aside
  end, queue.waiting)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    api.nvim_buf_clear_namespace(buf, SIGNS, 0, -1)
  end
  local events = autocommands.new("diff.waiting")
  if #aside > 0 then
    events:on("BufReadPost", update_signs)
    vim.iter(aside):each(place_sign)
  end
end

---While none is on screen, keys in all windows show one that waits: those that are not mapped already.
local function update_keys()
  local is_needed = #queue.waiting > 0 and not queue.shown
  update_signs()
  local taken = {}
  for _, mapping in ipairs(api.nvim_get_keymap("n")) do
    if mapping.desc == NEXT or mapping.desc == PREVIOUS then
      vim.keymap.del("n", mapping.lhs)
    else
      taken[mapping.lhsraw] = true
    end
  end
  for action, step in pairs(is_needed and { next_diff = 1, previous_diff = -1 } or {}) do
    for _, key in ipairs(keys.of(action)) do
      if not taken[vim.keycode(key)] then
        vim.keymap.set("n", key, function()
          M.switch(step)
        end, { desc = step > 0 and NEXT or PREVIOUS })
      end
    end
  end
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

local function show(diff)
  local focused = diff:show()
  queue.shown = diff
  remove_waiting(diff)
  update_keys()
  diff:report_shown(focused)
end

local show_next ---@type fun(decided?: boolean)

local function wait(diff)
  local ms = when.ms_until_idle()
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
  update_keys()
  local diff = next_up()
  if queue.shown or not diff then
    return
  elseif not when.can_show(diff.proposal.new_path, diff.asked_for) then
    return wait(diff)
  end
  if not diff.asked_for and when.is_busy(decided) then
    report_wait(diff)
    return when.after_busy(show_next)
  end
  local ok, message = pcall(show, diff)
  if ok then
    return
  elseif blocked.is_textlock_error(message) then
    return wait(diff)
  end
  remove_waiting(diff)
  require("claude-code.messages.log").error("showing a diff failed: %s", message)
  return tostring(message):match("^[^\n]*")
end

---Shows the next diff when nobody waits for the failure: one that cannot be shown is rejected, or
---its client would wait for good, and so would those behind it.
---@param decided? boolean the user has just decided another one
function show_next(decided)
  local diff = next_up()
  local failure = try_next(decided)
  if failure then
    local text = "the change of %s was rejected because it cannot be shown: %s"
    notify.error(text:format(diff.proposal:title(), failure))
    diff:reject()
    show_next()
  end
end

---Shows a diff that was left when the user shows one of its buffers (CTRL-^, :buffer).
local function watch_buffers(diff)
  local events = autocommands.new(("diff.aside.%d"):format(diff.proposal.id))
  local on_shown = vim.schedule_wrap(function(buf)
    if diff.unwatch and #vim.fn.win_findbuf(buf) > 0 then
      windows.noautocmd(function()
        windows.replace_buffer(buf)
      end)
      remove_waiting(diff)
      table.insert(queue.waiting, 1, diff)
      M.switch(1)
    end
  end)
  for _, buf in ipairs(vim.tbl_filter(api.nvim_buf_is_loaded, diff.proposal:buffers())) do
    events:on("BufWinEnter", on_shown, { buffer = buf })
  end
  function diff.unwatch()
    events:stop()
  end
end

---Queues a proposal, and shows it if none is on screen and windows may change.
---@param params claude-code.DiffParams
---@return string? failure it cannot be shown, and is not in the queue
function M.add(params)
  if #queue.waiting == 0 and not queue.shown then
    queue.series = { total = 0 }
  end
  local diff = diffs.new(params, M, queue.series)
  diff.aside = config.get().diff.open == "waits" or nil
  table.insert(queue.waiting, diff)
  if diff.aside then
    diff:emit("DiffWaiting")
    update_keys()
    if diff.number == 1 then
      notify.info(("%s shows a change of %s"):format(ways_back(), diff.proposal:title()), TOPIC)
    end
  end
  local is_next = not queue.shown and next_up() == diff
  local failure = is_next and try_next() or nil
  if queue.shown and not queue.shown.aside then
    queue.shown.view:show_bars()
  end
  return failure
end

---@return claude-code.Diff[] all that are open, the one on screen last
function M.all()
  local all = vim.list_slice(queue.waiting)
  all[#all + 1] = queue.shown and not queue.shown.outcome and queue.shown or nil
  return all
end

---@param id? integer
---@return claude-code.Diff? diff the one with this id; without it the one on screen
function M.find(id)
  return vim.iter(M.all()):find(function(diff)
    local on_screen = diff == queue.shown and not diff.aside
    return diff.proposal.id == id or (id == nil and on_screen)
  end)
end

---Closes what shows a diff that has ended, and shows the next one.
---@param diff claude-code.Diff
---@param in_write? boolean its windows must wait until Neovim has written
function M.remove(diff, in_write)
  if diff ~= queue.shown then
    remove_waiting(diff)
    update_keys()
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
      diff.view, queue.shown = nil, nil
      show_next(is_users)
    end,
  })
end

---@param diff claude-code.Diff on screen
function M.put_aside(diff)
  if diff ~= queue.shown then
    return
  end
  diff.aside = true
  diff.view:close({
    undecided = true,
    done = function()
      diff.view, queue.shown = nil, nil
      table.insert(queue.waiting, diff)
      watch_buffers(diff)
      show_next()
      local text = diff.proposal:is_edited()
          and "%s shows %s: its change waits with your edits; :q! there rejects it"
        or "%s shows %s: its change waits"
      notify.info(text:format(ways_back(), diff.proposal:title()), TOPIC)
    end,
  })
end

---Shows the one on screen again, and leaves the cursor where it is.
function M.lay_out_again()
  local diff = queue.shown --[[@as claude-code.Diff]]
  local is_inside = diff.view:is_inside()
  if diff.view:hide() then
    diff.view, queue.shown = nil, nil
    diff.asked_for, diff.stays = is_inside or nil, not is_inside
    table.insert(queue.waiting, 1, diff)
    show_next()
  end
end

---Shows another of those that wait; the one on screen waits again, with the user's edits. Where it is the only one
---the cursor moves there.
---@param step 1|-1
function M.switch(step)
  local diff, waiting = queue.shown, queue.waiting
  local is_open = diff and not diff.outcome and not diff.aside
  if diff and is_open and #waiting == 0 and not diff.view:is_inside() then
    diff.view:enter(true)
    return
  elseif #waiting == 0 then
    notify.info("there is no other proposal", TOPIC)
    return
  elseif diff and not (is_open and diff.view:hide()) then
    return
  elseif diff then
    diff.view, queue.shown = nil, nil
    table.insert(waiting, step > 0 and #waiting + 1 or 1, diff)
  end
  if step < 0 then
    table.insert(waiting, 1, table.remove(waiting))
  end
  keyboard.reset()
  waiting[1].aside, waiting[1].asked_for = nil, true
  show_next()
end

return M
