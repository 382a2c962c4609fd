--- Buffers to compare with their files: a moment after the last change, those on screen first, and a
--- few ms at a time, so that a `git checkout` under hundreds of buffers does not stop the editor.
local api, uv = vim.api, vim.uv
local blocked = require("claude-code.editor.windows.blocked")
local reload = require("claude-code.editor.documents.reload")
local timer = require("claude-code.lib.timer")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")

---In ms: how long nothing more must change; how long a file that is written on and on may wait; how long
---to work before keys get their turn; how long a file may be gone while it is replaced.
local SETTLE_MS, WAIT_MS, SLICE_MS, REPLACE_MS = 50, 300, 8, 300

local M = {}

local changed = {} ---@type table<integer, true>
local first_change ---@type number? ms, of those in `changed`
local queue, at = {}, 1 ---@type integer[], integer
local is_running = false
---Buffers whose file is not there: seen once, or reported.
local absent = {} ---@type table<integer, "seen"|"reported">
local deleted = {} ---@type integer[] to be reported

---@param buf integer
---@return boolean
local function exists(buf)
  return uv.fs_stat(api.nvim_buf_get_name(buf)) ~= nil
end

local function report_deleted()
  if #deleted == 0 then
    return
  end
  local base = path.base(api.nvim_buf_get_name(deleted[1]))
  if #deleted == 1 then
    notify.warn(base .. " was deleted on disk; its buffer is kept, and :w writes the file again")
  else
    local text = "%d open files were deleted on disk (%s, …); their buffers are kept"
    notify.warn(text:format(#deleted, base))
  end
  deleted = {}
end

---@param buf integer
local function check(buf)
  if not api.nvim_buf_is_loaded(buf) then
    return
  elseif exists(buf) then
    absent[buf] = nil
    reload.check(buf)
  elseif not absent[buf] then
    -- Many programs delete a file, and write it again.
    absent[buf] = "seen"
    timer.once(REPLACE_MS, function()
      M.add(buf)
    end)
  elseif absent[buf] == "seen" then
    absent[buf] = "reported"
    reload.note_deleted(buf)
    deleted[#deleted + 1] = buf
  end
end

local function run()
  if is_running then
    return
  elseif blocked.may_change() == "nothing" then
    -- Such as a command whose effect is shown while it is typed ('inccommand').
    is_running = true
    return blocked.retry(function()
      is_running = false
      run()
    end)
  end
  local till = uv.hrtime() + SLICE_MS * 1e6
  while queue[at] and uv.hrtime() < till do
    at = at + 1
    check(queue[at - 1])
  end
  if queue[at] then
    is_running = true
    timer.once(1, function()
      is_running = false
      run()
    end)
  else
    queue, at = {}, 1
    report_deleted()
  end
end

local function take_changed()
  local shown, hidden = {}, vim.list_slice(queue, at)
  for buf in pairs(changed) do
    if api.nvim_buf_is_loaded(buf) then
      local list = #vim.fn.win_findbuf(buf) > 0 and shown or hidden
      list[#list + 1] = buf
    end
  end
  changed, first_change = {}, nil
  queue, at = vim.list_extend(shown, hidden), 1
  run()
end

local take_soon ---@type fun()?
local cancel ---@type fun()?

---The file of this buffer may have changed. Also from a fast context.
---@param buf integer
function M.add(buf)
  if not take_soon then
    return
  end
  changed[buf] = true
  local now = uv.hrtime() / 1e6
  first_change = first_change or now
  if now - first_change < WAIT_MS then
    take_soon()
  end
end

---A buffer whose file need not be there yet: only one that was is reported as deleted.
---@param buf integer
function M.expect(buf)
  absent[buf] = not exists(buf) and "reported" or nil
end

function M.start()
  take_soon, cancel = timer.debounce(SETTLE_MS, take_changed)
end

function M.stop()
  if cancel then
    cancel()
  end
  take_soon, cancel = nil, nil
  changed, first_change, queue, at, absent, deleted = {}, nil, {}, 1, {}, {}
end

return M
