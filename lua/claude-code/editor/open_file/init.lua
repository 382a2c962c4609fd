--- Opening files for the executable: on screen with a range selected, or only loaded.
local api = vim.api
local blocked = require("claude-code.editor.input.blocked")
local documents = require("claude-code.editor.documents")
local loading = require("claude-code.editor.documents.load")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local ranges = require("claude-code.editor.open_file.range")
local reload = require("claude-code.editor.documents.reload")
local windows = require("claude-code.editor.windows")

local M = {}

---@class claude-code.OpenParams
---@field path string
---@field start_text? string plain text, may span lines
---@field end_text? string plain text, searched from the start of start_text on
---@field select_to_eol? boolean
---@field front? boolean

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
  reload.before_entering(buf)
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
  local problem = not open_already and documents.problem_with(name)
  if problem then
    return nil, problem
  end
  local ok, buf = pcall(loading.of_file, name, loading.load)
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

return M
