--- What a file held when Neovim wrote over it, while something of Claude's may be changing files: a command's
--- changes, which the buffer has taken over or not, can be set apart from what the user saves by it.
local uv = vim.uv
local client = require("claude-code.editor.review.client")
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")

---Larger files are not read: the user waits for it.
local MOST_BYTES = 2 * 1024 * 1024

---So long after Neovim's own write another program of the user's may change the file, as a formatter that
---runs after each write does; in ms.
local FORMATTED_MS = 3000

local M = {}

local over = {} ---@type table<string, string> by path, until the file is written
local written_at = {} ---@type table<string, number> by path: when Neovim wrote it last, in ms since the epoch

---@param name string
---@return boolean has another program written it since Neovim did?
local function is_by_others(name)
  local stat = uv.fs_stat(name)
  local changed_at = stat and stat.mtime.sec * 1000 + stat.mtime.nsec / 1e6 or 0
  return changed_at >= (written_at[name] or 0) + FORMATTED_MS
end

---@param name string absolute
local function before_write(name)
  local news = client.news()
  over[name] = news and news.runs and is_by_others(name) and regular_file.read(name, MOST_BYTES)
    or nil
end

---@param name string absolute
local function after_write(name)
  local bytes = over[name]
  over[name] = nil
  local seconds, microseconds = uv.gettimeofday()
  written_at[name] = seconds * 1000 + microseconds / 1000
  local params = { path = name, over = bytes and vim.base64.encode(bytes) or nil }
  client.request("written", params, function() end)
end

---Reports each file that Neovim writes.
---@param group integer of the autocommands
function M.watch(group)
  for event, report in pairs({ BufWritePre = before_write, BufWritePost = after_write }) do
    vim.api.nvim_create_autocmd(event, {
      group = group,
      callback = function(written)
        local name = path.of_buffer(written.buf)
        if name then
          report(name)
        end
      end,
    })
  end
end

return M
