--- Opening, reading and saving files for the executable.
local api, uv = vim.api, vim.uv
local blocked = require("claude-code.editor.windows.blocked")
local lines = require("claude-code.editor.documents.lines")
local loading = require("claude-code.editor.documents.load")
local path = require("claude-code.editor.documents.path")
local ranges = require("claude-code.editor.documents.find")
local notify = require("claude-code.messages.notify")
local windows = require("claude-code.editor.windows")

---A bigger file would keep Neovim still for seconds.
local MOST_BYTES = 64 * 1024 * 1024
---How much of a file is read to recognize a binary file, in bytes.
local SNIFF = 8192
---Of an open buffer's text: so many lines without a look at the clock, and so long one call may read, in ms.
local READ_LINES, READ_MS = 500, 10

local M = {}

---@class claude-code.OpenParams
---@field path string
---@field start_text? string plain text, may span lines
---@field end_text? string plain text, searched from the start of start_text on
---@field select_to_eol? boolean
---@field front? boolean

---@param name string
---@return string? problem why it cannot be opened, in a sentence that names the file
local function problem_with(name)
  local stat, message = uv.fs_stat(name)
  if not stat then
    return (message or ""):find("ENOENT", 1, true) and name .. " does not exist"
      or ("%s cannot be read: %s"):format(name, message)
  elseif stat.type == "directory" then
    return name .. " is a folder, not a file"
  elseif stat.type ~= "file" then
    return ("%s is not a regular file (%s)"):format(name, stat.type)
  elseif stat.size > MOST_BYTES then
    return path.too_big(name, stat.size, MOST_BYTES)
  end
  local file, reason = io.open(name, "rb")
  local head ---@type string? nil at the end of an empty file, and with a reason after an error
  if file then
    head, reason = file:read(SNIFF)
    file:close()
  end
  if reason then
    return ("%s cannot be read: %s"):format(name, reason)
  end
  head = head or ""
  local utf16 = head:find("^\255\254") or head:find("^\254\255")
  if head:find("\0", 1, true) and not utf16 then
    return name .. " is a binary file"
  end
end

---@param name string
---@param load fun(buf: integer)
---@return integer buf loaded
local function loaded(name, load)
  local buf = path.buffer(name) or vim.fn.bufadd(name)
  load(buf)
  return buf
end

---Loads a file that is not open, so that language servers see it. It stays out of `:ls`.
---@param params { path: string }
---@return integer? buf
---@return claude-code.Failure?
function M.load_hidden(params)
  local name = path.normal(params.path)
  local problem = problem_with(name)
  if problem then
    return nil, problem
  end
  local ok, buf = pcall(loaded, name, loading.load_unseen)
  if not ok then
    return nil, ("%s cannot be loaded: %s"):format(name, buf)
  end
  return buf
end

---Deletes a buffer that `load_hidden` loaded, unless it is used otherwise.
---@param buf integer
---@param is_new boolean was it made for that? One that was there keeps its marks
function M.unload_hidden(buf, is_new)
  local is_unused = api.nvim_buf_is_loaded(buf)
    and not vim.bo[buf].buflisted
    and not vim.bo[buf].modified
    and #vim.fn.win_findbuf(buf) == 0
  if is_unused then
    pcall(api.nvim_buf_delete, buf, { unload = not is_new })
  end
end

---@param buf integer
---@return boolean would leaving this buffer be refused ('nohidden' and unsaved)?
local function holds_edits(buf)
  local hide = vim.bo[buf].bufhidden
  local hidden = hide == "hide" or (hide == "" and vim.o.hidden)
  return vim.bo[buf].modified and not hidden and #vim.fn.win_findbuf(buf) < 2
end

---@param buf integer
---@return integer win in which `buf` shows now
local function show(buf)
  local win = windows.for_file(buf)
  if not win then
    return windows.beside(buf)
  end
  local before = api.nvim_win_get_buf(win)
  if before == buf then
    return win
  elseif holds_edits(before) then
    return api.nvim_open_win(buf, false, { split = "above", win = win })
  end
  api.nvim_win_set_buf(win, buf)
  return win
end

---The file that is shown as soon as the user stops typing. Of several the last: the others are
---loaded, and would only flash by.
local waiting ---@type { buf: integer, range: claude-code.Range? }?

local bring_to_front

---@param buf integer
---@param range claude-code.Range?
---@param announced? boolean the user knows that it waits
local function wait(buf, range, announced)
  if not announced then
    local base = path.base(api.nvim_buf_get_name(buf))
    notify.info(base .. " is open; it is shown when you are back in normal mode")
  end
  local first = waiting == nil
  waiting = { buf = buf, range = range }
  if first then
    blocked.retry(function()
      local last = waiting --[[@as { buf: integer, range: claude-code.Range? }]]
      waiting = nil
      bring_to_front(last.buf, last.range, true)
    end)
  end
end

---@param buf integer
---@param range claude-code.Range?
---@param announced? boolean the user knows that it waits
function bring_to_front(buf, range, announced)
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  ranges.leave_untouched()
  if blocked.may_change() ~= "all" then
    -- What is being typed would go into this file.
    return wait(buf, range, announced)
  end
  waiting = nil
  require("claude-code.editor.documents.reload").before_entering(buf)
  local was_terminal = api.nvim_get_mode().mode == "t"
  if was_terminal then
    vim.cmd.stopinsert()
  end
  local win = loading.without_question(function()
    local win = show(buf)
    api.nvim_set_current_win(win)
    return win
  end)
  if range then
    ranges.select(win, range)
  end
end

---Shows the file, and selects in it. If the search takes longer, that comes afterwards, unless the user
---went elsewhere.
---@param buf integer
---@param params claude-code.OpenParams
local function show_range(buf, params)
  local is_front, is_shown = params.front ~= false, false
  ranges.find(buf, params, function(range)
    if not is_front then
      if range then
        ranges.set_cursor(buf, range)
      end
    elseif not is_shown or (range and api.nvim_get_current_buf() == buf) then
      bring_to_front(buf, range)
    end
    is_shown = true
  end)
  if is_front and not is_shown then
    is_shown = true
    bring_to_front(buf)
  end
end

---Opens a file; in front with the range selected, or only loaded with the cursor on the range.
---@param params claude-code.OpenParams
---@return { path: string, language_id: string, line_count: integer }?
---@return claude-code.Failure?
function M.open(params)
  local name = path.normal(params.path)
  local open_already = path.loaded_buffer(name)
  local problem = not open_already and problem_with(name)
  if problem then
    return nil, problem
  end
  local ok, buf = pcall(loaded, name, loading.load)
  if not ok then
    return nil, ("%s cannot be opened: %s"):format(name, buf)
  end
  vim.bo[buf].buflisted = true
  show_range(buf, params)
  return {
    path = api.nvim_buf_get_name(buf),
    language_id = vim.bo[buf].filetype,
    line_count = api.nvim_buf_line_count(buf),
  }
end

---A part of an open buffer's text, as `:w` would write it in UTF-8: as much as can be read in a moment, so that
---keys need not wait.
---@param params { path: string, from: integer } from: 0-based line
---@return { text: string, tick: integer, next?: integer }? part next: line of the next part, nil at the
--- end; tick: b:changedtick, by which parts belong together
---@return claude-code.Failure?
function M.read(params)
  local buf = path.loaded_buffer(params.path)
  if not buf then
    return nil, { code = "not_open", message = "Document not open: " .. params.path }
  end
  local count, till = api.nvim_buf_line_count(buf), uv.hrtime() + READ_MS * 1e6
  local parts, row = {}, params.from
  repeat
    parts[#parts + 1] = lines.bytes(buf, row, row + READ_LINES)
    row = row + READ_LINES
  until row >= count or uv.hrtime() > till
  return {
    text = table.concat(parts),
    tick = api.nvim_buf_get_changedtick(buf),
    next = row < count and row or nil,
  }
end

---@return integer writes of the current buffer to its file since it was loaded
local function writes()
  return api.nvim_eval("undotree().save_last")
end

---An error of `:write`, or of an autocommand that ran with it, without the place in the plugin.
---@param message any
---@return string
local function reason(message)
  local text = tostring(message):gsub("\nstack traceback:.*", "")
  return (text:gsub("^.-Vim%b():", ""))
end

---@param buf integer
---@return boolean written also if an autocommand failed once the file was written
---@return string? problem
local function write(buf)
  local confirm = vim.o.confirm
  vim.o.confirm = false
  local written, problem = false, nil
  local ok, failure = pcall(api.nvim_buf_call, buf, function()
    local before = writes()
    local done, message = pcall(vim.cmd, "silent write")
    written = done or writes() > before
    problem = not done and reason(message) or nil
  end)
  vim.o.confirm = confirm
  return written, not ok and reason(failure) or problem
end

---Writes a buffer as `:w` does, autocommands included.
---@param params { path: string }
---@return { saved: true, problem?: string }? problem: an autocommand failed after the write
---@return claude-code.Failure?
function M.save(params)
  local buf = path.loaded_buffer(params.path)
  if not buf then
    return nil, { code = "not_open", message = "Document not open: " .. params.path }
  elseif blocked.in_command_window() then
    return nil, params.path .. " was not saved: " .. blocked.COMMAND_WINDOW
  end
  local reload = require("claude-code.editor.documents.reload")
  -- If it was just written outside, `:w` would ask whether to overwrite that, and wait for a key.
  reload.now({ path = params.path })
  if reload.is_stale(buf) then
    return nil,
      params.path .. " changed on disk after Neovim read it: :e! loads the file, :w! overwrites it"
  end
  local written, problem = write(buf)
  if not written then
    return nil, ("%s was not saved: %s"):format(params.path, problem)
  end
  return { saved = true, problem = problem }
end

return M
