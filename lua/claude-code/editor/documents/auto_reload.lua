--- Reloads open files while a Claude session runs, whether Claude's tools, its shell, a formatter or git wrote them.
--- Compares buffers a moment after the last change, visible ones first, in slices of a few ms: a `git checkout` under
--- hundreds of buffers does not freeze the editor.
local api, uv = vim.api, vim.uv
local autocommands = require("claude-code.lib.autocommands")
local blocked = require("claude-code.editor.input.blocked")
local checktime = require("claude-code.editor.documents.checktime")
local disk = require("claude-code.editor.documents.disk")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local task = require("claude-code.lib.task")
local timer = require("claude-code.lib.timer")
local unsaved = require("claude-code.editor.documents.unsaved")

---The pause after the last change; the longest delay of a check; how long a file may be missing while a program
---replaces it.
local SETTLE_MS, WAIT_MS, REPLACE_MS = 50, 300, 300
---How long an announced write may take.
local EXPECT_MS = 10000

local M = {}

---@alias claude-code.ReloadReason "accepted"|"clients"|"hooks"|"terminal"

---Why files are followed. Each function returns whether its reason still holds.
local reasons = {} ---@type table<claude-code.ReloadReason, fun(): boolean>

---@class claude-code.ReloadState
---@field events claude-code.Autocommands
---@field stops table<integer, fun(): boolean?> by buffer
---@field changed table<integer, true> buffers whose files may have changed
---@field first_change? number ms, of those in `changed`
---@field absent table<integer, "seen"|"reported"> by buffer: its file was missing once, or is reported as missing
---@field take_soon fun()
---@field cancel_take fun()
local state ---@type claude-code.ReloadState? nil: no files are followed

---Files that Claude is about to write, perhaps more than once (a formatter in a hook).
local expected = {} ---@type table<string, true>
local cancel_expecting = function() end

local function exists(buf)
  return uv.fs_stat(api.nvim_buf_get_name(buf)) ~= nil
end

local function report_deleted(bufs)
  local base = bufs[1] and path.base(api.nvim_buf_get_name(bufs[1]))
  if #bufs == 1 then
    notify.warn(base .. " was deleted on disk; its buffer is kept, and :w writes the file again")
  elseif base then
    local text = "%d open files were deleted on disk (%s, …); their buffers are kept"
    notify.warn(text:format(#bufs, base))
  end
end

local function mark_changed(buf)
  if not state then
    return
  end
  state.changed[buf] = true
  local now = uv.hrtime() / 1e6
  state.first_change = state.first_change or now
  if now - state.first_change < WAIT_MS then
    state.take_soon()
  end
end

---@return boolean is_deleted and has not been reported
local function check(buf, absent)
  if not api.nvim_buf_is_loaded(buf) then
    return false
  elseif exists(buf) then
    absent[buf] = nil
    reload.check(buf)
  elseif not absent[buf] then
    -- Many programs delete a file and then write it again.
    absent[buf] = "seen"
    timer.once(REPLACE_MS, function()
      mark_changed(buf)
    end)
  elseif absent[buf] == "seen" then
    absent[buf] = "reported"
    -- Neovim notices the deletion here, without its own message (E211).
    checktime.compare(buf)
    return true
  end
  return false
end

---@return integer[] buffers visible ones first
local function take_changed()
  local bufs = vim.tbl_filter(api.nvim_buf_is_loaded, vim.tbl_keys(state.changed))
  state.changed, state.first_change = {}, nil
  local shown, hidden = {}, {}
  for _, buf in ipairs(bufs) do
    table.insert(#vim.fn.win_findbuf(buf) > 0 and shown or hidden, buf)
  end
  return vim.list_extend(shown, hidden)
end

local function check_changed()
  if blocked.may_change() == "nothing" then
    -- For example, 'inccommand' is previewing a command.
    return blocked.retry(function()
      return state and check_changed()
    end)
  end
  disk.look()
  local now, bufs, deleted = state, take_changed(), {}
  task.run(function()
    for i, buf in ipairs(bufs) do
      if blocked.may_change() == "nothing" then
        vim.iter(vim.list_slice(bufs, i)):each(mark_changed)
        break
      elseif check(buf, now.absent) then
        deleted[#deleted + 1] = buf
      end
      task.breathe()
      if state ~= now then
        return
      end
    end
    report_deleted(deleted)
  end)
end

---Prevents reports about files that did not exist before.
local function note_absence(buf)
  state.absent[buf] = not exists(buf) and "reported" or nil
end

---@return boolean? is_changed a change of its file is still to be handled
local function forget(buf)
  local stop = state.stops[buf]
  state.stops[buf] = nil
  return stop and stop()
end

local function follow(buf)
  local name = api.nvim_buf_is_loaded(buf) and path.of_buffer(buf)
  if not name then
    forget(buf)
    return
  end
  -- Start the new watch before the old one ends, so that no event is lost in between.
  local stop = disk.follow(name, function()
    mark_changed(buf)
  end)
  if forget(buf) then
    mark_changed(buf)
  end
  state.stops[buf] = stop
  note_absence(buf)
  unsaved.remember_base(buf)
end

---@return boolean is_over no reason holds any more
local function stop_if_over()
  for _, holds in pairs(reasons) do
    if holds() then
      return false
    end
  end
  if state then
    state.events:stop()
    state.cancel_take()
    vim.iter(vim.tbl_keys(state.stops)):each(forget)
    state = nil
  end
  return true
end

local function start()
  local events = autocommands.new("auto_reload")
  events:on({ "BufReadPost", "BufNewFile", "BufFilePost" }, follow)
  events:on("BufWritePost", function(buf)
    note_absence(buf)
    unsaved.remember_base(buf)
    disk.look() -- The first write may have created the file's folder.
  end)
  -- Otherwise Neovim would ask whether to overwrite a text that was written a moment ago (W12).
  events:on("BufWritePre", function(buf, args)
    local is_meant = vim.v.cmdbang == 0 and path.normal(args.match) == path.of_buffer(buf)
    if is_meant and vim.bo[buf].modified and unsaved.is_outdated(buf) then
      unsaved.merge(buf)
    end
  end, { nested = true })
  events:on("BufUnload", function(buf)
    forget(buf)
    unsaved.bases[buf] = nil
  end)
  events:on("FocusGained", disk.look)
  events:on("BufEnter", function(buf)
    if not state.stops[buf] then
      follow(buf)
    end
    disk.look()
  end)
  events:on("TermClose", vim.schedule_wrap(stop_if_over))
  local take_soon, cancel_take = timer.debounce(SETTLE_MS, check_changed)
  state = { events = events, stops = {}, changed = {}, absent = {} }
  state.take_soon, state.cancel_take = take_soon, cancel_take
  vim.iter(api.nvim_list_bufs()):each(follow)
end

---Follows files as long as one of the reasons holds.
---@param holds? fun(): boolean nil: the reason is over
function M.set(reason, holds)
  reasons[reason] = holds
  if not stop_if_over() and not state then
    start()
  end
end

local function stop_expecting()
  cancel_expecting()
  expected = {}
  M.set("accepted", nil)
end

---Follows a file, which need not exist yet: the Claude CLI writes it some ms after a diff was accepted.
function M.expect_write(params)
  require("claude-code.server.channel").on_detach(stop_expecting)
  expected[path.normal(params.path)] = true
  M.set("accepted", function()
    return next(expected) ~= nil
  end)
  cancel_expecting()
  cancel_expecting = timer.once(EXPECT_MS, stop_expecting)
end

---Reloads expected files now, and looks at files without events: the caller is about to read what was just written.
function M.catch_up()
  for name in pairs(expected) do
    reload.now({ path = name })
  end
  disk.look()
end

return M
