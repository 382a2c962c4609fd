--- Opening files for the executable, on screen with a range selected or only loaded, and closing their buffers
--- ("tab" in the protocol, which comes from VS Code).
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local documents = require("claude-code.editor.documents")
local loading = require("claude-code.editor.documents.load")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local ranges = require("claude-code.editor.open_file.range")
local reload = require("claude-code.editor.documents.reload")
local scope = require("claude-code.editor.documents.scope")
local supply = require("claude-code.editor.documents.supply")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.OpenParams
---@field path string
---@field start_text? string plain text, may span lines
---@field end_text? string plain text, searched from the start of start_text on
---@field select_to_eol? boolean
---@field front? boolean
---@field folders? string[] of a Claude elsewhere: it may see what was read from these alone

---The file that is shown as soon as the user stops typing. Of several the last: the others are
---loaded, and would only flash by.
local waiting ---@type { buf: integer, range: claude-code.Range? }?

---Shows a buffer beside the window that has the cursor, and goes there.
---@param range? claude-code.Range to select
function M.bring_to_front(buf, range)
  waiting = nil
  if not api.nvim_buf_is_loaded(buf) then
    return
  end
  reload.check(buf)
  if api.nvim_get_mode().mode == "t" then
    vim.cmd.stopinsert()
  end
  local win = loading.without_question(function()
    return supply.show(buf, function()
      local win = windows.bring(buf, windows.for_file(buf))
      api.nvim_set_current_win(win)
      return win
    end)
  end)
  if range then
    ranges.select(win, range)
  end
end

local function show_waiting()
  if waiting and blocked.may_change() == "all" then
    notify.guard(M.bring_to_front, waiting.buf, waiting.range)
  elseif waiting then
    blocked.retry(show_waiting)
  end
end

---Not while the user types: that would go into this file.
local function show_soon(buf, range)
  ranges.leave_untouched()
  if blocked.may_change() == "all" then
    return M.bring_to_front(buf, range)
  elseif not waiting then
    blocked.retry(show_waiting)
  end
  if not waiting or waiting.buf ~= buf then
    local base = path.base(api.nvim_buf_get_name(buf))
    notify.info(base .. " is open; it is shown when you are back in normal mode")
  end
  waiting = { buf = buf, range = range }
end

---Shows a file beside the window that has the cursor, and goes there.
---@param name string absolute
---@param line? integer 1-based
---@return true? shown
---@return string? problem
function M.at(name, line)
  local buf, problem = documents.load(path.normal(name))
  if not buf then
    return nil, problem
  end
  vim.bo[buf].buflisted = true
  M.bring_to_front(buf)
  if line then
    vim.cmd.normal({ "m'", bang = true })
    api.nvim_win_set_cursor(0, { math.min(line, api.nvim_buf_line_count(buf)), 0 })
    vim.cmd.normal({ "zv", bang = true })
  end
  return true
end

---Opens a file; in front with the range selected, or only loaded and listed.
---@param params claude-code.OpenParams
---@return { language_id: string, line_count: integer }?
---@return claude-code.Failure?
function M.open(params)
  local name = path.normal(params.path)
  local open_already = path.loaded_buffer(name)
  local buf, problem = documents.load(name)
  if not buf then
    return nil, problem
  end
  local is_hidden = params.folders
    and scope.run(params.folders, require("claude-code.editor.privacy").hides, buf)
  if is_hidden then
    -- A symlink has taken the file's place in the meantime.
    if not open_already then
      api.nvim_buf_delete(buf, { force = true })
    end
    return nil, scope.run(params.folders, require("claude-code.editor.privacy").refusal, name)
  end
  vim.bo[buf].buflisted = true
  if params.front ~= false then
    show_soon(buf, ranges.find(buf, params))
  end
  return { language_id = vim.bo[buf].filetype, line_count = api.nvim_buf_line_count(buf) }
end

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
