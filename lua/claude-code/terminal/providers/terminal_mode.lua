--- Terminal mode in the window of Claude's terminal: it begins with the window, and comes back with it
--- unless the user has moved there without it, to read, or was put there because another window closed.
local focus = require("claude-code.editor.windows.focus")
local api = vim.api

---@class claude-code.TerminalMode
---@field private buf integer
---@field private resumes boolean whether terminal mode comes back with the window
---@field private pending? table what asked for it last, if it has not begun
---@field private left_at? [integer, integer] where the cursor was when it ended, see position()
local TerminalMode = {}
TerminalMode.__index = TerminalMode

local M = {}

--- The cursor's line, counted from both ends of the buffer: new output changes one of the two. A line that the CLI
--- draws again moves the cursor in it.
---@return [integer, integer]
local function position()
  local line = vim.fn.line(".")
  return { line, line - vim.fn.line("$") }
end

--- Window that the user was in before the current one; 0 is always valid.
local left = 0
require("claude-code.lib.autocommands").new("terminal.left"):on("WinLeave", function()
  left = api.nvim_get_current_win()
end)

--- Begins it, unless the cursor is elsewhere by the time Neovim gets to it. From one terminal to
--- another one in the same window it goes on by itself, without an event.
---@param before? integer window in which the cursor was
function TerminalMode:enter(before)
  self.pending = nil
  if api.nvim_get_mode().mode == "t" and api.nvim_get_current_win() == before then
    return
  end
  local asked = {}
  self.pending = asked
  local function is_due()
    -- A new window shows the terminal until its own buffer comes.
    if self.pending == asked and api.nvim_get_current_buf() ~= self.buf then
      self.pending = nil
    end
    return self.pending == asked
  end
  vim.schedule(function()
    if is_due() then
      focus.begin_insert_mode(is_due)
    end
  end)
end

--- What is still pending would become insert mode in the window that comes next.
---@return boolean was_pending
function TerminalMode:cancel()
  local was_pending = self.pending ~= nil
  self.pending = nil
  if was_pending and vim.startswith(api.nvim_get_mode().mode, "n") then
    vim.cmd.stopinsert()
  end
  return was_pending
end

--- Is it on in this terminal, or about to begin?
---@return boolean
function TerminalMode:is_on()
  return self.pending ~= nil or api.nvim_get_mode().mode == "t"
end

--- Did the user leave it and move since?
---@private
---@return boolean
function TerminalMode:has_read()
  local before, now = self.left_at, position()
  return before ~= nil
    and api.nvim_get_mode().mode ~= "t"
    and before[1] ~= now[1]
    and before[2] ~= now[2]
end

---@param buf integer a terminal's
---@param is_open fun(): boolean does its command run?
---@return claude-code.TerminalMode
function M.follow(buf, is_open)
  local group = api.nvim_create_augroup("claude-code.terminal", { clear = false })
  local mode = setmetatable({ buf = buf, resumes = true }, TerminalMode)
  local function on(event, callback)
    api.nvim_create_autocmd(event, { group = group, buffer = buf, callback = callback })
  end
  on("TermEnter", function()
    mode.pending = nil
  end)
  on("TermLeave", function()
    mode.left_at = nil
    -- A key such as <C-\><C-n><C-w>h leaves the window before that.
    vim.schedule(function()
      if api.nvim_get_current_buf() == buf and api.nvim_get_mode().mode == "nt" then
        mode.left_at = position()
      end
    end)
  end)
  local was_pending = false
  -- Before WinLeave, and also where another buffer comes into the window.
  on("BufLeave", function()
    was_pending = mode:cancel()
  end)
  on("WinLeave", function()
    mode.resumes = mode:cancel() or was_pending or not mode:has_read()
    was_pending = false
  end)
  on("WinEnter", function()
    -- If that window closed, Neovim chose this one, and the next keys were typed for that one: a list whose last row
    -- was decided, a split after `:q`.
    local has_closed = not api.nvim_win_is_valid(left)
    -- While a proposal waits the CLI asks as well, and the next Enter in its terminal would be the answer.
    local is_asking = require("claude-code.sessions.attention").count_diffs() > 0
    if mode.resumes and not has_closed and not is_asking and is_open() then
      mode:enter()
    end
  end)
  return mode
end

return M
