--- Gives Neovim the text of a file that it is about to read. Neovim itself would open the name again, and wait for a
--- FIFO, a device or 3 GB that may have taken the file's place.
local api, uv = vim.api, vim.uv
local checktime = require("claude-code.editor.documents.checktime")
local notify = require("claude-code.messages.notify")
local parsing = require("claude-code.editor.documents.parsing")
local regular_file = require("claude-code.lib.regular_file")

local M = {
  ---A bigger file would block Neovim for seconds. A file that is already open may grow beyond it.
  MAX_BYTES = 64 * 1024 * 1024,
  reading = nil, ---@type integer? buffer that `read` is reading
}

---Calls `load` in a nested autocommand: its events fire even if we run in another autocommand. Passes errors on.
function M.with_events(load)
  local ok, problem ---@type boolean?, any
  local function call()
    ok, problem = pcall(load)
  end
  local on = { pattern = "ClaudeCodeReads", nested = true, once = true, callback = call }
  api.nvim_create_autocmd("User", on)
  api.nvim_exec_autocmds("User", { pattern = on.pattern, modeline = false })
  if ok == nil then
    return load() -- 'eventignore' contains User.
  end
  return ok or error(problem, 0)
end

---Reads bytes into the current, empty buffer as `:edit` does, from a copy in $TMPDIR. If that cannot be written, Neovim
---reads the file itself. Throws if the bytes cannot be read.
---@return boolean is_damaged some bytes are invalid in the file's encoding: `:w` would lose them
local function read_copy(bytes, name)
  local copy, cpoptions, shortmess = vim.fn.tempname(), vim.go.cpoptions, vim.go.shortmess
  local file = uv.fs_open(copy, "wx", 384)
  local is_written = file and ({ uv.fs_write(file, bytes), uv.fs_close(file) })[1] == #bytes
  local source = is_written and copy or regular_file.head(name, 1) and name
  vim.b.claude_code_copy = source or error("$TMPDIR has no room for a copy of it", 0)
  -- With "a" the copy would get a buffer. A shortened message could lose the part that is parsed below.
  vim.go.cpoptions, vim.go.shortmess = cpoptions:gsub("a", "", 1), "A"
  local read = "keepalt keepjumps lockmarks noautocmd 0read ++edit `=b:claude_code_copy`"
  local ok, message = pcall(vim.fn.execute, read)
  vim.b.claude_code_copy, vim.go.cpoptions, vim.go.shortmess = nil, cpoptions, shortmess
  uv.fs_unlink(copy)
  if not ok or not message:find('"', 1, true) then
    error(ok and "Neovim cannot read it" or message, 0)
  elseif bytes ~= "" then
    api.nvim_buf_set_lines(0, -2, -1, true, {})
    api.nvim_buf_set_mark(0, "]", api.nvim_buf_line_count(0), 0, {})
  end
  -- Find "[ILLEGAL BYTE in line 1]" in any language: no other flag contains a number.
  return message:find('%[[^%]"]*%d[^%]"]*%][^"]*$') ~= nil
end

---Fires an event, and reports an error of another plugin: if it were thrown, the buffer would become 'modified'.
local function fire(event, buf)
  local ok, problem = pcall(api.nvim_buf_call, buf, function()
    api.nvim_exec_autocmds(event, { buffer = buf, modeline = false })
  end)
  local text = event .. " failed: " .. tostring(problem):gsub("^.*Autocommands for ", "")
  return ok or notify.warn(text:match("[^\n]*"))
end

---@param text string? nil: the file cannot be read, so the buffer gets its old lines back
local function fill(buf, text, before)
  fire("BufReadPre", buf)
  if api.nvim_get_current_buf() ~= buf then
    if pcall(api.nvim_buf_set_lines, buf, 0, -1, false, before) then
      vim.bo[buf].modified = false
    end
    error("a BufReadPre autocommand has left its buffer", 0)
  end
  local options, name = vim.bo[buf], api.nvim_buf_get_name(buf)
  local levels, is_first = options.undolevels, #vim.fn.undotree().entries == 0
  if is_first then -- Otherwise setting it would end the undo step in which `:edit!` keeps the old text.
    options.undolevels = -1
  end
  local modifiable, readonly = options.modifiable, options.readonly
  options.readonly, options.modifiable = false, true
  local ok, result = pcall(text and read_copy or error, text, text and name)
  if not ok then
    api.nvim_buf_set_lines(buf, 0, -1, false, before)
  end
  options.modifiable = modifiable
  options.readonly = readonly or not regular_file.is_writable(name) or not not result
  if is_first then
    options.undolevels = levels
  end
  if text and not ok then
    error(result, 0)
  end
  local undo = is_first and options.undofile and vim.fn.undofile(name)
  if undo and uv.fs_stat(undo) then
    pcall(vim.cmd.rundo, { undo, magic = { file = false }, mods = { emsg_silent = true } })
  end
  if checktime.has_never_read(buf) then
    checktime.take_time(buf)
  end
  fire("BufReadPost", buf)
end

---@return string? bytes of the buffer's file; nil unless it is a readable regular file that is not too big
function M.bytes(buf)
  local size = api.nvim_buf_get_offset(buf, api.nvim_buf_line_count(buf))
  return regular_file.read(api.nvim_buf_get_name(buf), math.max(M.MAX_BYTES, 2 * size))
end

---Calls `callback`, in which Neovim may read the file of a buffer, and supplies the text unless a plugin does. Passes
---errors on. Throws if the text cannot be read: then the buffer is read-only with its old text, or not loaded.
---@generic T
---@param supply fun(): string?, string[] returns the file's bytes and the buffer's old lines
---@param callback fun(): T
---@return T
function M.with_text(buf, supply, callback)
  if #checktime.autocommands(buf, "BufReadCmd") > 0 then
    return callback()
  end
  local was_loaded, is_filled, problem = api.nvim_buf_is_loaded(buf), true, nil ---@type boolean, boolean, any
  local id = api.nvim_create_autocmd("BufReadCmd", {
    buffer = buf,
    nested = true,
    desc = checktime.OWN,
    callback = function()
      is_filled, problem = pcall(function()
        fill(buf, supply())
      end)
    end,
  })
  local ok, result = pcall(callback)
  pcall(api.nvim_del_autocmd, id)
  if not is_filled and not was_loaded then
    pcall(api.nvim_buf_delete, buf, { unload = true, force = true })
  elseif not is_filled and api.nvim_buf_is_valid(buf) then
    local name = vim.fs.basename(api.nvim_buf_get_name(buf))
    notify.warn(("%s is read-only until :e, since it cannot be read: %s"):format(name, problem))
  end
  if not (ok and is_filled) then
    error(problem or result, 0)
  end
  return result
end

---Calls `load`, which lets Neovim read the file of a buffer, without the question about a swap file (E325): the user
---may not be there to answer. Leaves a missing file to Neovim. Passes errors on, and throws if the file cannot be read.
function M.read(buf, load)
  local stat = uv.fs_stat(api.nvim_buf_get_name(buf))
  local before = api.nvim_buf_get_lines(buf, 0, -1, false)
  local function read()
    local shortmess = vim.o.shortmess
    vim.o.shortmess, M.reading = shortmess .. "A", buf
    local ok, problem = pcall(parsing.while_reading, buf, load)
    vim.o.shortmess, M.reading = shortmess, nil
    return ok or error(problem, 0)
  end
  if not stat or stat.type == "directory" then
    return read()
  end
  local bytes = M.bytes(buf) or error("it is not a regular file that can be read, or too large", 0)
  M.with_text(buf, function()
    -- Read again, since Neovim has just noted the file's time, and would take an older text for the newest.
    return M.bytes(buf) or bytes, before
  end, read)
end

---Calls `bring`, which shows a loaded buffer in a window: Neovim may read its file again. If the file cannot be read,
---the buffer keeps its text.
---@generic T
---@param bring fun(): T
---@return T
function M.show(buf, bring)
  local lines, bytes = api.nvim_buf_get_lines(buf, 0, -1, false), nil ---@type string[], string?
  local result = M.with_text(buf, function()
    bytes = M.bytes(buf)
    return bytes, lines
  end, bring)
  if bytes then
    checktime.take_time(buf)
  end
  return result
end

return M
