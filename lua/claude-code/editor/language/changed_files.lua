--- What was written outside of Neovim, by Claude, its shell or git, before a language server is asked:
--- clean buffers take it over, and every server is notified. Neovim itself watches no files on Linux.
local api = vim.api
local call = require("claude-code.editor.language.call")
local disk = require("claude-code.editor.documents.disk")
local hidden = require("claude-code.editor.diagnostics.hidden")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local servers = require("claude-code.editor.language.servers")
local task = require("claude-code.editor.language.task")

---In one notification.
local MOST_FILES = 1000
---FileChangeType (LSP 3.17).
local TYPES = { created = 1, changed = 2, deleted = 3 }

local M = {}

---@class claude-code.ChangedFile
---@field path string
---@field change "created"|"changed"|"deleted"

---The files as they were when they were last compared, by buffer.
local versions = {} ---@type table<integer, string>

---In a task: reloads buffers without unsaved edits whose files have changed.
local function reload_buffers()
  for _, buf in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buf) and path.of_buffer(buf)
    local version = name and disk.version(name) or nil
    if version ~= versions[buf] then
      versions[buf] = version
      reload.check(buf)
      task.breathe()
    end
  end
end

---Notifies every language server.
---@param changes claude-code.ChangedFile[]
function M.notify(changes)
  local events = {}
  for _, file in ipairs(changes) do
    if file.change == "deleted" then
      hidden.on_deleted(path.normal(file.path))
    end
    events[#events + 1] = { uri = vim.uri_from_fname(file.path), type = TYPES[file.change] or 2 }
  end
  for first = 1, #events, MOST_FILES do
    local params = { changes = vim.list_slice(events, first, first + MOST_FILES - 1) }
    for _, client in ipairs(servers.running()) do
      pcall(call, client, "notify", "workspace/didChangeWatchedFiles", params)
    end
  end
end

---In a task: language servers know then what has changed.
---@param changes? claude-code.ChangedFile[]
function M.take_over(changes)
  reload_buffers()
  M.notify(changes or {})
end

return M
