--- Watches files that are about to be written outside, perhaps more than once (a formatter in a hook),
--- and reloads their buffers. The Claude CLI writes some ms after a diff was accepted.
local uv = vim.uv
local reload = require("claude-code.editor.documents.reload")
local timer = require("claude-code.lib.timer")

---In ms: how long a file is watched, how often it is looked at, and for how long it must not have
---changed, so that the writer is through.
local WATCH_MS, POLL_MS, UNCHANGED_MS = 10000, 50, 50

---@class claude-code.FileWatch
---@field reload_changed fun() reloads the buffer if the file has changed since it was last looked at
---@field prolong fun() lets it last WATCH_MS from now on
---@field close fun()

local M = {}

local watches = {} ---@type table<string, claude-code.FileWatch> by path

---@param name string
local function close(name)
  local watch = watches[name]
  watches[name] = nil
  watch.close()
end

---@param name string
---@return string version changes with the file; "" if there is none
local function version_of(name)
  local stat = uv.fs_stat(name)
  return stat and table.concat({ stat.mtime.sec, stat.mtime.nsec, stat.size, stat.ino }, ":") or ""
end

---@param name string
---@return claude-code.FileWatch
local function new(name)
  local seen = version_of(name)
  local function reload_changed()
    local version = version_of(name)
    if version ~= seen then
      seen = version
      reload.now({ path = name })
    end
  end
  local poll = assert(uv.new_fs_poll())
  local reload_soon, cancel_reload = timer.debounce(UNCHANGED_MS, reload_changed)
  local prolong, cancel_end = timer.debounce(WATCH_MS, function()
    close(name)
    reload_changed()
  end)
  poll:start(name, POLL_MS, reload_soon)
  -- A write before the poll's own first look, which libuv does behind our back, makes no event. This
  -- look comes behind it.
  uv.fs_stat(name, reload_soon)
  return {
    reload_changed = reload_changed,
    prolong = prolong,
    close = function()
      poll:close()
      cancel_reload()
      cancel_end()
    end,
  }
end

---Watches a file for the next seconds, whether it exists or not.
---@param params { path: string }
---@return true
function M.start(params)
  require("claude-code.server.channel").on_detach(M.stop)
  local name = require("claude-code.editor.documents.path").normal(params.path)
  watches[name] = watches[name] or new(name)
  watches[name].prolong()
  return true
end

---Reloads at once what was written to watched files. For one who reads after the writer is through.
function M.reload_written()
  for _, watch in ipairs(vim.tbl_values(watches)) do
    watch.reload_changed()
  end
end

---Ends all watching.
function M.stop()
  for _, name in ipairs(vim.tbl_keys(watches)) do
    close(name)
  end
end

return M
