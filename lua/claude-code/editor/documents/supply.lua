--- Gives Neovim the text of a file that it is about to read: by itself it would open the file's name once more, and
--- wait for whatever has taken its place since it was looked at, such as a FIFO, a device or 3 GB.
local api, uv = vim.api, vim.uv
local checktime = require("claude-code.editor.documents.checktime")
local regular_file = require("claude-code.lib.regular_file")

---Permission bits: anybody may write.
local WRITABLE = 146
---nvim_cmd() knows no `++edit`.
local READ = "silent keepalt keepjumps lockmarks noautocmd 0read ++edit `=b:claude_code_copy`"

local M = {
  ---A bigger file would keep Neovim still for seconds; one that is open may grow beyond it.
  MOST_BYTES = 64 * 1024 * 1024,
}

---Calls `callback` in an autocommand that others nest in: the events of what it loads fire also where we are in another
---one. Throws its errors.
---@param callback fun()
function M.with_events(callback)
  local ok, problem ---@type boolean?, any
  local function call()
    ok, problem = pcall(callback)
  end
  local on = { pattern = "ClaudeCodeReads", nested = true, callback = call }
  local id = api.nvim_create_autocmd("User", on)
  api.nvim_exec_autocmds("User", { pattern = on.pattern, modeline = false })
  api.nvim_del_autocmd(id)
  if ok == nil then
    -- 'eventignore'
    call()
  end
  if not ok then
    error(problem, 0)
  end
end

---Reads a copy into the current buffer, which is empty, as `:edit` reads a file.
local function read_copy(bytes)
  local copy = vim.fn.tempname()
  local file = assert(uv.fs_open(copy, "wx", 384))
  local written = uv.fs_write(file, bytes)
  uv.fs_close(file)
  local cpoptions = vim.go.cpoptions
  -- With "a" the copy would become a buffer.
  vim.go.cpoptions = cpoptions:gsub("a", "")
  vim.b.claude_code_copy = copy
  local ok, problem = pcall(vim.cmd, READ)
  vim.b.claude_code_copy = nil
  vim.go.cpoptions = cpoptions
  uv.fs_unlink(copy)
  if written ~= #bytes or not ok then
    error(problem or "its copy cannot be written", 0)
  end
  if bytes ~= "" then
    api.nvim_buf_set_lines(0, -2, -1, true, {})
  end
end

---@param text string|string[]
local function fill(buf, text)
  local function fire(event)
    api.nvim_exec_autocmds(event, { buffer = buf, modeline = false })
  end
  fire("BufReadPre")
  local options, name = vim.bo[buf], api.nvim_buf_get_name(buf)
  local levels, is_first = options.undolevels, #vim.fn.undotree().entries == 0
  if is_first then
    options.undolevels = -1
  end
  local stat = uv.fs_stat(name)
  -- Root may write everything.
  local readonly = stat ~= nil
    and (bit.band(stat.mode, WRITABLE) == 0 or vim.fn.filewritable(name) == 0)
  options.readonly, options.modifiable = false, true
  if type(text) == "table" then
    api.nvim_buf_set_lines(buf, 0, -1, false, text)
  else
    read_copy(text)
  end
  options.undolevels, options.readonly = levels, readonly
  local undo = is_first and options.undofile and vim.fn.undofile(name)
  if undo and uv.fs_stat(undo) then
    local mods = { silent = true, emsg_silent = true }
    pcall(vim.cmd.rundo, { undo, magic = { file = false }, mods = mods })
  end
  if checktime.has_never_read(buf) then
    checktime.take_time(buf)
  end
  if text ~= "" then
    api.nvim_buf_set_mark(buf, "]", api.nvim_buf_line_count(buf), 0, {})
  end
  fire("BufReadPost")
end

---@param buf integer
---@return string? bytes of its file; nil for what is not a regular file, is too large, or cannot be read
function M.bytes(buf)
  local size = api.nvim_buf_is_loaded(buf)
      and api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
    or 0
  return regular_file.read(api.nvim_buf_get_name(buf), math.max(M.MOST_BYTES, 2 * size))
end

---Calls `callback`, in which Neovim may read the file of a buffer. Throws its errors.
---@generic T
---@param buf integer
---@param supply fun(): string|string[] the file's bytes, or rows
---@param callback fun(): T
---@return T
function M.during(buf, supply, callback)
  if #checktime.autocommands(buf, "BufReadCmd") > 0 then
    -- A plugin reads it.
    return callback()
  end
  local problem ---@type any
  local function on_read()
    local ok, message = pcall(function()
      fill(buf, supply())
    end)
    problem = not ok and message or nil
  end
  local on = { buffer = buf, nested = true, desc = checktime.OWN, callback = on_read }
  local id = api.nvim_create_autocmd("BufReadCmd", on)
  local ok, result = pcall(callback)
  pcall(api.nvim_del_autocmd, id)
  if problem or not ok then
    error(problem or result, 0)
  end
  return result
end

---Calls `callback`, in which Neovim reads the file of a buffer, as it is now. What is not there is left to Neovim.
---Throws its errors, and one for what cannot be read.
---@param buf integer
---@param callback fun()
function M.read(buf, callback)
  local stat = uv.fs_stat(api.nvim_buf_get_name(buf))
  if not stat or stat.type == "directory" then
    return callback()
  end
  local bytes = M.bytes(buf) or error("it is not a regular file that can be read, or too large", 0)
  M.during(buf, function()
    -- By now Neovim has noted the time of the file: a text that is older would be taken for the file's.
    return M.bytes(buf) or bytes
  end, callback)
end

---Calls `show`, which brings a loaded buffer into a window: Neovim may read its file again then. What cannot be read
---leaves the text as it is.
---@generic T
---@param buf integer
---@param show fun(): T
---@return T
function M.shown(buf, show)
  local lines, bytes = api.nvim_buf_get_lines(buf, 0, -1, false), nil ---@type string[], string?
  local result = M.during(buf, function()
    bytes = M.bytes(buf)
    return bytes or lines
  end, show)
  if bytes then
    checktime.take_time(buf)
  end
  return result
end

return M
