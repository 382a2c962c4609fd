--- Opening files for the executable: on screen with a range selected, or only loaded.
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local documents = require("claude-code.editor.documents")
local loading = require("claude-code.editor.documents.load")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local ranges = require("claude-code.editor.open_file.range")
local reload = require("claude-code.editor.documents.reload")
local scope = require("claude-code.editor.documents.scope")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.OpenParams
---@field path string
---@field start_text? string plain text, may span lines
---@field end_text? string plain text, searched from the start of start_text on
---@field select_to_eol? boolean
---@field front? boolean
---@field folders? string[] of a Claude elsewhere: it may see what was read from these alone

---@return boolean would leaving this buffer be refused ('nohidden' and unsaved)?
local function holds_edits(buf)
  local hide = vim.bo[buf].bufhidden
  local hidden = hide == "hide" or (hide == "" and vim.o.hidden)
  return vim.bo[buf].modified and not hidden and #vim.fn.win_findbuf(buf) < 2
end

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

---Shows a buffer beside the window that has the cursor, and goes there.
---@param buf integer
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
    local win = show(buf)
    api.nvim_set_current_win(win)
    return win
  end)
  if range then
    ranges.select(win, range)
  end
end

local function show_waiting()
  if waiting and blocked.may_change() == "all" then
    M.bring_to_front(waiting.buf, waiting.range)
  elseif waiting then
    blocked.retry(show_waiting)
  end
end

---Not while the user types: that would go into this file.
---@param range claude-code.Range?
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

---Shows the file, and selects in it. If the search takes longer, that comes afterwards, unless the user
---went elsewhere.
---@param params claude-code.OpenParams
local function show_range(buf, params)
  local is_shown = false
  ranges.find(buf, params, function(range)
    local is_there = api.nvim_get_current_buf() == buf or (waiting and waiting.buf == buf)
    if not is_shown or (range and is_there) then
      show_soon(buf, range)
    end
    is_shown = true
  end)
  if not is_shown then
    is_shown = true
    show_soon(buf)
  end
end

---Shows a file beside the window that has the cursor, and goes there.
---@param name string absolute
---@param line? integer 1-based
---@return true? shown
---@return string? problem
function M.at(name, line)
  local full = path.normal(name)
  local problem = not path.loaded_buffer(full) and documents.problem_with(full)
  if problem then
    return nil, problem
  end
  local buf = loading.of_file(full)
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
  local problem = not open_already and documents.problem_with(name)
  if problem then
    return nil, problem
  end
  local ok, buf = pcall(loading.of_file, name)
  if not ok then
    return nil, ("%s cannot be opened: %s"):format(name, buf)
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
    show_range(buf, params)
  end
  return { language_id = vim.bo[buf].filetype, line_count = api.nvim_buf_line_count(buf) }
end

return M
