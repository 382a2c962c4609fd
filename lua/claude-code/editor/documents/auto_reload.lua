--- While a Claude session runs, every open file follows what is written to the disk, whoever writes:
--- Claude's tools, its shell, a formatter, git. Nothing runs while nothing changes.
local api = vim.api
local file_change = require("claude-code.editor.documents.file_change")
local folder_watch = require("claude-code.editor.documents.folder_watch")
local path = require("claude-code.editor.documents.path")
local queue = require("claude-code.editor.documents.reload_queue")
local timer = require("claude-code.lib.timer")

---How long after a folder is gone another one in its place is watched, in ms.
local RETRY_MS = 300

local M = {}

---@alias claude-code.ReloadReason "clients"|"hooks"|"terminal"

---Why files are followed now; each says whether it still holds.
local reasons = {} ---@type table<claude-code.ReloadReason, fun(): boolean>
local watch ---@type claude-code.FolderWatch?
local group ---@type integer?
local cancel_retry ---@type fun()?
---The files as they were last looked at, by buffer; kept up to date for those that are not watched.
local versions = {} ---@type table<integer, string>

---@param buf integer
local function forget(buf)
  if watch then
    watch:remove(buf)
    versions[buf] = nil
  end
end

---@param buf integer
local function follow(buf)
  local name = watch and api.nvim_buf_is_loaded(buf) and path.of_buffer(buf)
  if not watch or not name then
    return forget(buf)
  end
  name = path.normal(name)
  local real = path.real(name)
  watch:set(buf, real ~= name and { name, real } or { name })
  versions[buf] = file_change.version(name)
  queue.expect(buf)
end

---@return boolean
local function is_needed()
  return vim.iter({ "clients", "hooks", "terminal" }):any(function(reason)
    return reasons[reason] ~= nil and reasons[reason]()
  end)
end

---Looks at the files that cannot be watched, at moments that exist anyway.
function M.check_unwatched()
  for _, buf in ipairs(watch and watch:retry() or {}) do
    local version = file_change.version(api.nvim_buf_get_name(buf))
    if version ~= versions[buf] then
      versions[buf] = version
      queue.add(buf)
    end
  end
end

local function stop()
  if not watch or not group then
    return
  end
  watch:close()
  cancel_retry()
  api.nvim_del_augroup_by_id(group)
  queue.stop()
  watch, group, versions = nil, nil, {}
end

local function stop_if_over()
  if not is_needed() then
    stop()
  end
end

local function start()
  queue.start()
  local retry_soon
  retry_soon, cancel_retry = timer.debounce(RETRY_MS, M.check_unwatched)
  watch = folder_watch.new(queue.add, retry_soon)
  group = api.nvim_create_augroup("claude-code.auto_reload", { clear = true })
  local function on(events, callback)
    api.nvim_create_autocmd(events, {
      group = group,
      callback = function(args)
        callback(args.buf)
      end,
    })
  end
  on({ "BufReadPost", "BufNewFile", "BufFilePost" }, follow)
  on("BufWritePost", function(buf)
    -- The first time it may have made the file's folder.
    queue.expect(buf)
    M.check_unwatched()
  end)
  on("BufUnload", forget)
  on("FocusGained", M.check_unwatched)
  on("BufEnter", function(buf)
    if not versions[buf] then
      follow(buf)
    end
    M.check_unwatched()
  end)
  on("TermClose", vim.schedule_wrap(stop_if_over))
  for _, buf in ipairs(api.nvim_list_bufs()) do
    follow(buf)
  end
end

---Files are followed as long as one of the reasons holds.
---@param reason claude-code.ReloadReason
---@param holds? fun(): boolean nil: it is over
function M.set(reason, holds)
  reasons[reason] = holds
  if not is_needed() then
    stop()
  elseif not watch then
    start()
  end
end

return M
