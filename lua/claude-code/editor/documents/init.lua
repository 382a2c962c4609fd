--- Reading and saving open files for the executable.
local api, uv = vim.api, vim.uv
local blocked = require("claude-code.editor.input.blocked")
local disk = require("claude-code.editor.documents.disk")
local lines = require("claude-code.editor.documents.lines")
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")
local reload = require("claude-code.editor.documents.reload")
local supply = require("claude-code.editor.documents.supply")

---Of a buffer whose text is sent, in bytes.
local MAX_SENT = 10 * 1024 * 1024
---Bytes that are read to recognize a binary file.
local SNIFF = 8192

local M = {}

---@param name string
---@return string? problem why it cannot be opened, in a sentence that names the file
function M.problem_with(name)
  local stat, message = uv.fs_stat(name)
  if not stat then
    return (message or ""):find("ENOENT", 1, true) and name .. " does not exist"
      or ("%s cannot be read: %s"):format(name, message)
  elseif stat.type == "directory" then
    return name .. " is a folder, not a file"
  elseif stat.type ~= "file" then
    return ("%s is not a regular file (%s)"):format(name, stat.type)
  elseif stat.size > supply.MAX_BYTES then
    return path.too_big(name, stat.size, supply.MAX_BYTES)
  end
  local head, reason = regular_file.head(name, SNIFF)
  if not head then
    return ("%s cannot be read: %s"):format(name, reason or "it is not a regular file any more")
  end
  local utf16 = head:find("^\255\254") or head:find("^\254\255")
  if head:find("\0", 1, true) and not utf16 then
    return name .. " is a binary file"
  end
end

---Loads a file, unless it is loaded.
---@param name string in normal form
---@param is_unseen? boolean it is hidden for now
---@return integer? buf
---@return string? problem
function M.load(name, is_unseen)
  local problem = not path.loaded_buffer(name) and M.problem_with(name)
  if problem then
    return nil, problem
  end
  local ok, buf = pcall(require("claude-code.editor.documents.load").of_file, name, is_unseen)
  if not ok then
    return nil, ("%s cannot be opened: %s"):format(name, buf)
  end
  return buf
end

local function not_open(params)
  return nil, { code = "not_open", message = "Document not open: " .. params.path }
end

---Reads an open buffer's text, as `:w` would write it in UTF-8.
---@param params { path: string }
---@return string?
---@return claude-code.Failure?
function M.read(params)
  local buf = path.loaded_buffer(params.path)
  if not buf then
    return not_open(params)
  end
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  if size > MAX_SENT then
    return nil, path.too_big(params.path, size, MAX_SENT)
  end
  return lines.bytes(buf)
end

---@return integer count of the current buffer's writes since it was loaded
local function writes()
  return api.nvim_eval("undotree().save_last")
end

---@return string reason the error of `:write`, or of an autocommand, without the place in the plugin
local function reason(message)
  local text = tostring(message):gsub("\nstack traceback:.*", "")
  return (text:gsub("^.-Vim%b():", ""))
end

---@return boolean written also if an autocommand failed once the file was written
---@return string? problem
local function write(buf)
  local confirm, version = vim.o.confirm, disk.version(api.nvim_buf_get_name(buf))
  vim.o.confirm = false
  -- It runs last, after a formatter that may take its time.
  local guard = api.nvim_create_autocmd("BufWritePre", {
    buffer = buf,
    callback = function()
      if disk.version(api.nvim_buf_get_name(buf)) ~= version then
        error("it changed on disk just now", 0)
      end
    end,
  })
  local written, problem = false, nil
  local ok, failure = pcall(api.nvim_buf_call, buf, function()
    local before = writes()
    local done, message = pcall(vim.cmd, "silent write")
    written = done or writes() > before
    problem = not done and reason(message) or nil
  end)
  vim.o.confirm = confirm
  pcall(api.nvim_del_autocmd, guard)
  return written, not ok and reason(failure) or problem
end

---Writes a buffer as `:w` does, autocommands included.
---@param params { path: string }
---@return { saved: true, problem?: string }? problem: an autocommand failed after the write
---@return claude-code.Failure?
function M.save(params)
  local buf = path.loaded_buffer(params.path)
  if not buf then
    return not_open(params)
  elseif blocked.in_command_window() then
    return nil, params.path .. " was not saved: " .. blocked.COMMAND_WINDOW
  end
  -- If it was just written outside, `:w` would ask whether to overwrite that, and wait for a key.
  reload.check(buf)
  if reload.is_stale(buf) then
    local text =
      "%s changed on disk where it has unsaved edits: gm merges both, :e! loads the file, :w! overwrites it"
    return nil, text:format(params.path)
  end
  local was_modified = vim.bo[buf].modified
  local written, problem = write(buf)
  if written then
    return { saved = true, problem = problem }
  end
  -- Another Neovim may have written the same text in the meantime.
  reload.check(buf)
  if was_modified and not vim.bo[buf].modified then
    return { saved = true }
  end
  return nil, ("%s was not saved: %s"):format(params.path, problem)
end

return M
