--- Closing a file's buffer by name ("tab" in the protocol, which comes from VS Code).
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local path = require("claude-code.editor.documents.path")

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

---@param buf integer
---@return boolean is a window reserved for this buffer?
local function is_pinned(buf)
  return vim.iter(vim.fn.win_findbuf(buf)):any(function(win)
    return vim.wo[win].winfixbuf
  end)
end

---@param buf integer in the current window
---@return integer? other to show instead: the alternate buffer, else the listed one before it. Not one
---that would have to be loaded, which may ask (E325).
local function successor(buf)
  local function fits(other)
    return other > 0 and other ~= buf and vim.bo[other].buflisted and api.nvim_buf_is_loaded(other)
  end
  local listed = vim.tbl_filter(fits, api.nvim_list_bufs())
  local alternate = vim.fn.bufnr("#")
  if fits(alternate) then
    return alternate
  end
  return vim.iter(listed):rev():find(function(other)
    return other < buf
  end) or listed[#listed]
end

---Lets each window show something else, so that none closes with the buffer.
---@param buf integer
local function leave_windows(buf)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    api.nvim_win_call(win, function()
      local other = successor(buf)
      if other then
        require("claude-code.editor.documents.reload").before_entering(other)
        vim.cmd.buffer(other)
      else
        vim.cmd.enew()
      end
    end)
  end
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
  if is_pinned(buf) then
    local message = name .. " is pinned to its window ('winfixbuf'): it stays open"
    return nil, { code = "pinned", message = message }
  end
  if blocked.in_command_window() then
    return nil, ("%s stays open: %s"):format(name, blocked.COMMAND_WINDOW)
  end
  leave_windows(buf)
  vim.cmd.bdelete({ count = buf })
  return { closed = true }
end

return M
