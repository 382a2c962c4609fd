--- Closing a file's buffer by name ("tab" in the protocol, which comes from VS Code).
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local path = require("claude-code.editor.documents.path")
local reload = require("claude-code.editor.documents.reload")
local windows = require("claude-code.editor.windows")

local M = {}

---@param name string a full path
---@return integer[] buffers
local function at(name)
  local buf = path.buffer(name)
  return buf and (vim.bo[buf].buflisted or api.nvim_buf_is_loaded(buf)) and { buf } or {}
end

---@param name string the last part of a path
---@return integer[] buffers
local function named(name)
  return vim.tbl_filter(function(other)
    local file = path.of_buffer(other)
    return vim.bo[other].buflisted and file ~= nil and path.base(file) == name
  end, api.nvim_list_bufs())
end

---Closes the buffer of that path, or of that last name, as `:bdelete` does, which keeps its marks and its place in jump
---lists; never one with unsaved changes.
---@param params { path?: string, name?: string }
---@return { closed: boolean, reason?: string }?
---@return claude-code.Failure?
function M.close(params)
  local name = params.path or params.name
  local found = params.path and at(params.path) or named(params.name)
  if #found ~= 1 then
    local reason = #found == 0 and "no file with that name is open"
      or "several files with that name are open"
    return { closed = false, reason = reason }
  end
  local buf = found[1]
  if vim.bo[buf].modified then
    return nil, { code = "unsaved", message = name .. " has unsaved changes: it stays open" }
  end
  local is_pinned = vim.iter(vim.fn.win_findbuf(buf)):any(function(win)
    return vim.wo[win].winfixbuf
  end)
  if is_pinned then
    local message = name .. " is pinned to its window ('winfixbuf'): it stays open"
    return nil, { code = "pinned", message = message }
  end
  if blocked.in_command_window() then
    return nil, ("%s stays open: %s"):format(name, blocked.COMMAND_WINDOW)
  end
  -- Entering a buffer, Neovim may ask whether to load its file again.
  windows.replace_buffer(buf, reload.check)
  vim.cmd.bdelete({ count = buf })
  return { closed = true }
end

return M
