--- Loads files into buffers, and reads and saves open ones for the executable.
local api, uv = vim.api, vim.uv
local autocommands = require("claude-code.lib.autocommands")
local blocked = require("claude-code.editor.input.blocked")
local disk = require("claude-code.editor.documents.disk")
local finally = require("claude-code.lib.finally")
local lines = require("claude-code.editor.documents.lines")
local notify = require("claude-code.messages.notify")
local parsing = require("claude-code.editor.documents.parsing")
local path = require("claude-code.editor.documents.path")
local regular_file = require("claude-code.lib.regular_file")
local reload = require("claude-code.editor.documents.reload")
local supply = require("claude-code.editor.documents.supply")

---The limit of a buffer's text that is sent, in bytes.
local MAX_SENT = 10 * 1024 * 1024
---Bytes that are read to recognize a binary file.
local SNIFF = 8192

local M = {}

---@return string? problem sentence that says why the file cannot be opened
local function problem_with(name)
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
    return ("%s cannot be read: %s"):format(name, reason or "it is no longer a regular file")
  end
  local utf16 = head:find("^\255\254") or head:find("^\254\255")
  if head:find("\0", 1, true) and not utf16 then
    return name .. " is a binary file"
  end
end

local syntax_events = autocommands.new("syntax")

---Is the plugin, and not the user, bringing a buffer on screen?
local is_showing = false

---@return string? name of the swap file that another editor uses for the buffer's file, or left in a crash
---@return integer? process id of that editor; 0: it has ended
local function other_swap(buf)
  local own = vim.fn.swapname(buf)
  -- Neovim takes the next free name when the first is in use: .swo, .swn, …
  if own == "" or own:find("%.swp$") then
    return nil
  end
  local name = own:gsub("%.%w+$", ".swp")
  local info = vim.fn.swapinfo(name)
  local file = not info.error and vim.fn.fnamemodify(info.fname, ":p") or ""
  -- In a shared 'directory' it may belong to a file of the same name elsewhere.
  if path.real(file) == path.real(api.nvim_buf_get_name(buf)) then
    return name, info.pid
  end
end

---Lets Neovim ask its own question (E325) once the user shows the buffer, and restores 'readonly' once the other editor
---has ended.
local function follow_swap(buf, swap, readonly)
  local events = autocommands.new("swap." .. buf)
  local edit = vim.schedule_wrap(function()
    if api.nvim_get_current_buf() == buf and not vim.bo[buf].modified then
      events:stop()
      -- TODO(0.10): vim.cmd() would take the question itself for a failure.
      api.nvim_feedkeys(vim.keycode("<Cmd>edit<CR>"), "n", false)
    end
  end)
  events:on("BufWinEnter", function()
    if not is_showing and vim.uv.fs_stat(swap) then
      edit()
    end
  end, { buffer = buf })
  events:on({ "BufReadPost", "BufUnload" }, function()
    if supply.reading == buf then
      vim.bo[buf].readonly = true
    else
      events:stop()
    end
  end, { buffer = buf })
  events:on({ "FocusGained", "BufEnter" }, function()
    if not vim.uv.fs_stat(swap) then
      events:stop()
      vim.bo[buf].readonly = readonly
    end
  end)
end

---Calls `show`, which brings a buffer on screen, without Neovim's question about its swap file.
---@generic T
---@param show fun(): T
---@return T
function M.without_question(show)
  is_showing = true
  return finally(function()
    is_showing = false
  end, show)
end

---Does the user work with this file type: is a buffer of it listed, or does a server run for it? Otherwise a file that
---Claude wrote could start a server that Claude wrote (`node_modules/.bin`).
local is_known = require("claude-code.lib.timer").remembered(function(filetype)
  local lsp = require("claude-code.lib.lsp")
  return vim.iter(api.nvim_list_bufs()):any(function(buf)
    return api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].filetype == filetype
      and (vim.bo[buf].buflisted or #lsp.of_buffer(buf) > 0)
  end) or vim.iter(lsp.clients()):any(function(client)
    return vim.list_contains(client.config.filetypes or {}, filetype)
  end)
end)

---Hidden buffers without a FileType event: no language server starts for them.
local asleep = {} ---@type table<integer, true>

---Puts off 'syntax', which takes longest, until the buffer is shown; while it is asleep, also its file type.
local function define_later(buf)
  syntax_events:on("BufWinEnter", function()
    if asleep[buf] then
      parsing.set_filetype(buf, vim.bo[buf].filetype)
    else
      vim.bo[buf].syntax = vim.bo[buf].syntax
    end
    asleep[buf] = nil
  end, { buffer = buf, once = true, nested = true })
end

---@return boolean is_asleep no server has seen the buffer, since the user has no file of its type open
function M.is_asleep(buf)
  return asleep[buf] == true
end

---Shows a buffer that was asleep to language servers, if the user works with its file type by now.
---@return boolean has_awoken
function M.wake(buf)
  if not asleep[buf] or not is_known(vim.bo[buf].filetype) then
    return false
  end
  asleep[buf] = nil
  local eventignore = vim.o.eventignore
  vim.opt.eventignore:append("Syntax")
  pcall(parsing.set_filetype, buf, vim.bo[buf].filetype)
  vim.o.eventignore = eventignore
  return true
end

---Loads a buffer without the swap-file question (E325): the user may not be there to answer. A file with the swap file
---of another editor opens read-only. Throws errors of autocommands, and one if the file is not a regular file.
---@param is_unseen? boolean the buffer stays hidden for now
function M.load_buffer(buf, is_unseen)
  if api.nvim_buf_is_loaded(buf) then
    return
  end
  local eventignore = vim.o.eventignore
  if is_unseen then
    vim.opt.eventignore:append({ "Syntax", "FileType" })
  end
  local function restore()
    vim.o.eventignore = eventignore
  end
  finally(restore, supply.with_events, function()
    supply.read(buf, function()
      vim.fn.bufload(buf)
    end)
  end)
  if is_unseen then
    asleep[buf] = vim.bo[buf].filetype ~= "" or nil
    define_later(buf)
    M.wake(buf)
  end
  local swap, process = other_swap(buf)
  if swap and process then
    local readonly = vim.bo[buf].readonly
    vim.bo[buf].readonly = true
    local text = process > 0
        and "%s is open in another Neovim (process %d): opened read-only; close it there, then :e"
      or "%s has a crashed editor's swap file: opened read-only; :e recovers it (E325)"
    notify.warn(text:format(path.base(api.nvim_buf_get_name(buf)), process))
    -- Scheduled, since the caller may show it at once.
    vim.schedule(function()
      if api.nvim_buf_is_loaded(buf) then
        follow_swap(buf, swap, readonly)
      end
    end)
  end
end

---Loads a file, unless it is loaded.
---@param name string in normal form
---@param is_unseen? boolean the buffer stays hidden for now
---@return integer? buf, string? problem
function M.load(name, is_unseen)
  local loaded = path.loaded_buffer(name)
  local problem = not loaded and problem_with(name)
  if loaded or problem then
    return loaded, problem or nil
  end
  local buf = path.buffer(name) or vim.fn.bufadd(name)
  local ok, failure = pcall(M.load_buffer, buf, is_unseen)
  if not ok then
    return nil, ("%s cannot be opened: %s"):format(name, failure)
  end
  return buf
end

local function not_open(params)
  return nil, { code = "not_open", message = "Document not open: " .. params.path }
end

---Reads the text of an open buffer, as `:w` would write it in UTF-8.
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

---@return string reason error of `:write` or of an autocommand, without our position in it
local function reason(message)
  local text = tostring(message):gsub("\nstack traceback:.*", "")
  return (text:gsub("^.-Vim%b():", ""))
end

---@return boolean written true even if an autocommand failed after the write
---@return string? problem
local function write(buf)
  local confirm, version = vim.o.confirm, disk.version(api.nvim_buf_get_name(buf))
  vim.o.confirm = false
  -- This autocommand runs last, after formatters, which may take seconds.
  local events = autocommands.new("save")
  events:on("BufWritePre", function()
    if disk.version(api.nvim_buf_get_name(buf)) ~= version then
      error("it changed on disk just now", 0)
    end
  end, { buffer = buf })
  local written, problem = false, nil
  local ok, failure = pcall(api.nvim_buf_call, buf, function()
    local writes = "undotree().save_last" -- nvim_eval() does not copy the whole tree.
    local before = api.nvim_eval(writes)
    local done, message = pcall(vim.cmd, "silent write")
    written = done or api.nvim_eval(writes) > before
    problem = not done and reason(message) or nil
  end)
  vim.o.confirm = confirm
  events:stop()
  return written, not ok and reason(failure) or problem
end

---Writes a buffer as `:w` does, autocommands included.
function M.save(params)
  local buf = path.loaded_buffer(params.path)
  if not buf then
    return not_open(params)
  elseif blocked.in_command_window() then
    return nil, params.path .. " was not saved: " .. blocked.COMMAND_WINDOW
  end
  -- If another program has just written the file, `:w` would ask whether to overwrite it, and wait for a key.
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
