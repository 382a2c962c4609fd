--- While a Claude session runs, every open file follows what is written to the disk by Claude's tools, its shell, a
--- formatter or git. Buffers are compared a moment after the last change, those on screen first, and for a few ms at a
--- time: a `git checkout` under hundreds of buffers does not stop the editor. Nothing runs while nothing changes.
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

---In ms: the pause after the last change; the longest wait for it; how long a file may be gone while it is replaced.
local SETTLE_MS, WAIT_MS, REPLACE_MS = 50, 300, 300
---In ms: how long a file is expected to be written.
local EXPECT_MS = 10000

local M = {}

---@alias claude-code.ReloadReason "accepted"|"clients"|"hooks"|"terminal"

---Why files are followed now; each says whether it still holds.
local reasons = {} ---@type table<claude-code.ReloadReason, fun(): boolean>

---@class claude-code.ReloadState while files are followed
---@field events claude-code.Autocommands
---@field stops table<integer, fun(): boolean?> by buffer
---@field changed table<integer, true> buffers whose files may have changed
---@field first_change? number ms, of those in `changed`
---@field absent table<integer, "seen"|"reported"> buffers whose file is missing: seen once, or reported
---@field take_soon fun()
---@field cancel_take fun()
local state ---@type claude-code.ReloadState?

---Files that are about to be written, perhaps more than once (a formatter in a hook).
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

---Marks the file of a buffer as changed.
local function add(buf)
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

---@return boolean is_deleted and not reported yet
local function check(buf, absent)
  if not api.nvim_buf_is_loaded(buf) then
    return false
  elseif exists(buf) then
    absent[buf] = nil
    reload.check(buf)
  elseif not absent[buf] then
    -- Many programs delete a file, and write it again.
    absent[buf] = "seen"
    timer.once(REPLACE_MS, function()
      add(buf)
    end)
  elseif absent[buf] == "seen" then
    absent[buf] = "reported"
    -- Neovim notes it without a message (E211).
    checktime.compare(buf)
    return true
  end
  return false
end

---@return integer[] buffers whose files may have changed, those on screen first
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
    -- Such as a command whose effect is shown while it is typed ('inccommand').
    return blocked.retry(function()
      return state and check_changed()
    end)
  end
  disk.look()
  local now, bufs, deleted = state, take_changed(), {}
  task.run(function()
    for i, buf in ipairs(bufs) do
      if blocked.may_change() == "nothing" then
        vim.iter(vim.list_slice(bufs, i)):each(add)
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

---Only a file that was there is reported as deleted.
local function note_absence(buf)
  state.absent[buf] = not exists(buf) and "reported" or nil
end

---@return boolean? is_changed its file may have changed just now
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
  local stop = disk.follow(name, function()
    add(buf)
  end)
  -- The new watch begins before the old one ends: no event is lost in between, nor one that was noticed just now.
  if forget(buf) then
    add(buf)
  end
  state.stops[buf] = stop
  note_absence(buf)
  unsaved.remember_base(buf)
end

---Ends what no reason holds any more.
---@return boolean is_over
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
    -- The first write may have made the file's folder.
    note_absence(buf)
    unsaved.remember_base(buf)
    disk.look()
  end)
  -- Neovim would ask whether to overwrite what was written a moment ago (W12).
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

---Files are followed as long as one of the reasons holds.
---@param reason claude-code.ReloadReason
---@param holds? fun(): boolean nil: it is over
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

---Expects a file to be written, which need not be there yet: the Claude CLI writes some ms after a diff was accepted.
---@param params { path: string }
function M.expect_write(params)
  require("claude-code.server.channel").on_detach(stop_expecting)
  expected[path.normal(params.path)] = true
  M.set("accepted", function()
    return next(expected) ~= nil
  end)
  cancel_expecting()
  cancel_expecting = timer.once(EXPECT_MS, stop_expecting)
end

---Reloads what was expected to be written at once, and looks at the files that have no events. For a reader who comes
---after the writer.
function M.catch_up()
  for name in pairs(expected) do
    reload.now({ path = name })
  end
  disk.look()
end

return M
