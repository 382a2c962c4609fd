--- Shows a file of the review in diff mode, beside or below its text from before the changes, while the file's window
--- shows it. Leaving the file or closing a window restores the file's window.
local api, fn = vim.api, vim.fn
local autocommands = require("claude-code.lib.autocommands")
local blocked = require("claude-code.editor.input.blocked")
local buffers = require("claude-code.editor.review.buffer")
local documents = require("claude-code.editor.documents")
local hunk_keys = require("claude-code.editor.changes.keys")
local hunks = require("claude-code.editor.changes.hunks")
local layouts = require("claude-code.editor.windows.layout")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local sides = require("claude-code.editor.changes.sides")
local text = require("claude-code.editor.review.text")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

local SCHEME = "claude-code://before"

---@class claude-code.Beside
---@field win integer of the file
---@field buf integer
---@field private review claude-code.Review
---@field private old_win integer
---@field private old_buf integer
---@field private tab integer
---@field private list claude-code.Hunk[] between the texts
---@field private sides claude-code.Sides
---@field private options table<string, any> of the file's window
---@field private restore_sizes fun()
---@field private events claude-code.Autocommands
local Beside = {}
Beside.__index = Beside

local M = {}

local shown ---@type claude-code.Beside?

---@return boolean does the user want both sides? The key decides, else `diff.layout` if it was set
local function is_wanted(review)
  if review.wants_beside ~= nil then
    return review.wants_beside
  end
  local layout = require("claude-code.config").given("diff.layout")
  return layout == "vertical" or layout == "tab"
end

---@return string[] the text of a buffer with the old lines in place of the hunks
local function before(buf, changed)
  local lines, lines_of = api.nvim_buf_get_lines(buf, 0, -1, false), text.reader(buf)
  local found, from = {}, 1
  for _, hunk in ipairs(changed) do
    local first, count = unpack(hunk.new)
    local last = count == 0 and first or first - 1
    vim.list_extend(found, lines, from, last)
    vim.list_extend(found, lines_of(hunk.old_lines or {}, hunk.old[1]))
    from = last + count + 1
  end
  if #lines > 1 or lines[1] ~= "" then
    vim.list_extend(found, lines, from)
  end
  return #found > 0 and found or { "" }
end

---@return string? reason why a window cannot show it; "" if it shows nothing of the review
local function obstacle(review, win)
  local buf = api.nvim_win_get_buf(win)
  local of, file = buffers.get(buf), review:file_of(buf)
  if windows.is_floating(win) or not (of and file and of.hunks[1] and of:is_current(review)) then
    return ""
  elseif file.kind == "created" then
    return "the file is new"
  elseif windows.has_diff() then
    return "other windows are in diff mode"
  elseif not sides.fits(api.nvim_win_get_width(win), api.nvim_win_get_height(win)) then
    return "the window is too small"
  end
  local new, old = api.nvim_buf_get_lines(buf, 0, -1, false), before(buf, of.hunks)
  return sides.why_inline(old, new, hunks.between(old, new))
end

---@private
function Beside:open_side()
  local name = SCHEME .. api.nvim_buf_get_name(self.buf)
  self.old_buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_name(self.old_buf, name)
  self:fill()
  windows.noautocmd(function()
    local half = sides.half(self.win, sides.is_below() and "above" or "left")
    self.old_win = api.nvim_open_win(self.old_buf, false, half)
  end)
  require("claude-code.editor.documents.parsing").set_filetype(
    self.old_buf,
    vim.bo[self.buf].filetype
  )
  winbar.set(
    self.old_win,
    winbar.render({
      " %<",
      { path.title(api.nvim_buf_get_name(self.buf), ":."), "ClaudeCodeBarFile" },
      { " (before) ", "ClaudeCodeNote" },
    })
  )
end

---@private
function Beside:fill()
  local new = api.nvim_buf_get_lines(self.buf, 0, -1, false)
  local old = before(self.buf, buffers.hunks(self.buf))
  if not vim.deep_equal(old, api.nvim_buf_get_lines(self.old_buf, 0, -1, false)) then
    vim.bo[self.old_buf].modifiable = true
    api.nvim_buf_set_lines(self.old_buf, 0, -1, false, old)
    vim.bo[self.old_buf].modified, vim.bo[self.old_buf].modifiable = false, false
  end
  self.list = hunks.between(old, new)
end

---Moves to the hunk or line of the file beside the cursor: keys decide there.
---@private
function Beside:enter_file()
  local row = api.nvim_win_get_cursor(self.old_win)[1]
  local index = hunks.at(self.list, "old", row, api.nvim_buf_line_count(self.old_buf))
  local line = index and hunks.span(self.list[index], "new")
    or hunks.counterpart(self.list, "old", row)
  api.nvim_set_current_win(self.win)
  api.nvim_win_set_cursor(self.win, { math.min(line, api.nvim_buf_line_count(self.buf)), 0 })
end

---@private
function Beside:map_keys()
  local entries = vim.tbl_map(function(entry)
    return vim.tbl_extend("force", entry, {
      modes = { "n" },
      run = function(mode, key)
        self:enter_file()
        entry.run(mode, key)
      end,
    })
  end, self.review.keys)
  hunk_keys.map({ self.old_buf }, "before", entries)
end

---@private
function Beside:follow()
  local function update()
    M.update(self.review)
  end
  -- With the other side open, Neovim would not exit by :quit in the last file.
  self.events:on("QuitPre", function()
    if api.nvim_get_current_win() == self.win then
      self:close()
      vim.schedule(update)
    end
  end, { buffer = self.buf })
  self.events:on("BufWinLeave", vim.schedule_wrap(update), { buffer = self.buf })
  self.events:on("WinClosed", function(_, args)
    if vim.list_contains({ self.win, self.old_win }, tonumber(args.match)) then
      self.review.wants_beside = false
    end
    vim.schedule(update)
  end)
  self.events:on("VimResized", function()
    if self:is_intact() and not blocked.in_command_window() then
      self.sides:even_out(sides.is_below())
    end
    update()
  end)
end

local function open(review, win)
  local self = setmetatable({ review = review, win = win, old_win = -1, old_buf = -1 }, Beside)
  self.events = autocommands.new("review.beside")
  self.buf, self.tab = api.nvim_win_get_buf(win), api.nvim_win_get_tabpage(win)
  self.restore_sizes, self.options = layouts.keep_sizes(), {}
  for _, name in ipairs(sides.OPTIONS) do
    self.options[name] = vim.wo[win][name]
  end
  self.options.winbar = nil -- bar.lua restores it
  local view = api.nvim_win_call(win, fn.winsaveview)
  shown = self
  self:open_side()
  self.sides = sides.start(self.old_win, win, false)
  self:follow()
  self:map_keys()
  self:refresh()
  buffers.get(self.buf):set_beside(review, true)
  local line = hunks.counterpart(self.list, "new", view.lnum)
  line = math.min(line, api.nvim_buf_line_count(self.old_buf))
  api.nvim_win_set_cursor(self.old_win, { line, 0 })
  api.nvim_win_call(win, function()
    fn.winrestview(view)
  end)
  self.sides:align(self.list)
end

---@private
function Beside:refresh()
  self:fill()
  self.sides:draw(self.list)
end

---@private
function Beside:is_intact()
  return windows.shows(self.win, self.buf)
    and windows.shows(self.old_win, self.old_buf)
    and buffers.hunks(self.buf)[1] ~= nil
end

---@private
function Beside:has_room()
  local size = sides.is_below() and api.nvim_win_get_height or api.nvim_win_get_width
  local room = size(self.win) + size(self.old_win) + 1
  return sides.fits(room, room)
end

---The window shows another buffer by now. Neovim would bring our options back with the file.
---@private
function Beside:forget_options()
  local now, win = api.nvim_win_get_buf(self.win), self.win
  local view = api.nvim_win_call(win, fn.winsaveview)
  documents.load_buffer(self.buf)
  windows.show(win, self.buf)
  windows.set_options(win, self.options)
  windows.show(win, now)
  api.nvim_win_call(win, function()
    fn.winrestview(view)
  end)
end

---@private
function Beside:close_windows()
  if api.nvim_win_is_valid(self.win) and api.nvim_get_current_win() == self.old_win then
    api.nvim_set_current_win(self.win)
  end
  for _, win in ipairs(api.nvim_list_wins()) do
    local is_copy = api.nvim_win_get_tabpage(win) == self.tab and sides.is_side(win)
    if win ~= self.old_win and (win == self.win or is_copy) then
      windows.set_options(win, self.options)
    end
  end
  if api.nvim_win_is_valid(self.win) and not windows.shows(self.win, self.buf) then
    pcall(self.forget_options, self)
  end
  if not api.nvim_win_is_valid(self.old_win) then
    return
  elseif windows.is_last(self.old_win) and api.nvim_buf_is_loaded(self.buf) then
    windows.show(self.old_win, self.buf)
    windows.set_options(self.old_win, self.options)
  else
    windows.close(self.old_win)
    self.restore_sizes()
  end
end

---Works even if the other side was not opened completely.
---@private
function Beside:close()
  shown = nil
  self.events:stop()
  windows.noautocmd(function()
    local is_closed, problem = pcall(self.close_windows, self)
    if self.sides then
      self.sides:stop()
    end
    if api.nvim_buf_is_valid(self.old_buf) then
      api.nvim_buf_delete(self.old_buf, { force = true })
    end
    if not is_closed then
      notify.error(tostring(problem))
    end
  end)
  local of = buffers.get(self.buf)
  if of then
    of:set_beside(self.review, false)
  end
end

---@return boolean is it the file's window?
function M.is_file(win)
  return shown ~= nil and shown.win == win
end

local is_waiting = false

---@return boolean is the command-line window open? Then Neovim refuses changes of windows: updates once that closes
local function must_wait()
  if shown and blocked.in_command_window() and not is_waiting then
    is_waiting = true
    blocked.retry(function()
      is_waiting = false
      if shown then
        M.update(shown.review)
      end
    end)
  end
  return blocked.in_command_window()
end

---Restores the file's window, unless it shows this buffer.
---@param buf? integer
function M.close(buf)
  if shown and shown.buf ~= buf and not must_wait() then
    shown:close()
  end
end

---Opens, redraws or closes the text from before beside the file on screen.
---@return string? reason why it stays closed; "" if it shows nothing of the review
function M.update(review)
  if must_wait() then
    return nil
  end
  local is_wanted_now = review.is_open and is_wanted(review)
  if shown then
    if is_wanted_now and shown:is_intact() and shown:has_room() then
      return shown:refresh()
    end
    shown:close()
  end
  if not is_wanted_now or api.nvim_get_mode().mode ~= "n" then
    return nil
  end
  local wins = { api.nvim_get_current_win() }
  if review.list:has_cursor() then
    wins = api.nvim_tabpage_list_wins(0)
  end
  local reason ---@type string?
  for _, win in ipairs(wins) do
    reason = obstacle(review, win)
    if not reason then
      return open(review, win)
    end
  end
  return reason
end

function M.toggle(review)
  review.wants_beside = not is_wanted(review)
  local reason = M.update(review)
  if reason and reason ~= "" then
    notify.info("shown inline: " .. reason, "review.layout")
  end
end

return M
