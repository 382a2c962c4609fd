--- What a file held when Neovim wrote over it, while something of Claude's may be changing files: a command's
--- changes, which the buffer has taken over or not, can be set apart from what the user saves by it.
local uv = vim.uv
local client = require("claude-code.editor.review.client")
local disk = require("claude-code.editor.documents.disk")
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")
local undone = require("claude-code.editor.review.undone")

---Larger files are not read: the user waits for it.
local MOST_BYTES = 2 * 1024 * 1024

---So long after Neovim's own write another program of the user's may change the file, as a formatter that
---runs after each write does; in ms.
local FORMATTED_MS = 3000

local M = {}

---@type table<string, { over?: string, at: number }> by path: what is being written over, and when Neovim
--- wrote the file last, in ms since the epoch
local writes = {}

---@param name string absolute
function M.before_write(name)
  local summary, write, stat = client.summary(), writes[name] or { at = 0 }, uv.fs_stat(name)
  local changed_at = stat and stat.mtime.sec * 1000 + stat.mtime.nsec / 1e6 or 0
  local is_by_others = changed_at >= write.at + FORMATTED_MS
  local is_wanted = summary and summary.runs and is_by_others
  write.over = is_wanted and regular_file.read(name, MOST_BYTES) or nil
  writes[name] = write
end

---Reports a file that Neovim has written.
---@param name string absolute
function M.after_write(name)
  local bytes = writes[name] and writes[name].over
  local seconds, microseconds = uv.gettimeofday()
  writes[name] = { at = seconds * 1000 + microseconds / 1000 }
  local params = { path = name, version = disk.written_version(name) }
  params.over = bytes and vim.base64.encode(bytes) or nil
  undone.report(path.loaded_buffer(name))
  client.request("written", params, function() end)
end

return M
