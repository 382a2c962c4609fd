--- The CLI in a terminal buffer of Neovim. Terminal mode begins when the user enters its window, unless the user left
--- the mode to read, or Neovim moved the cursor there because another window closed.
local api = vim.api
local buffer = require("claude-code.terminal.window.buffer")
local focus = require("claude-code.editor.windows.focus")
local window = require("claude-code.terminal.window")

---@class claude-code.NativeTerminal: claude-code.BufferTerminal
---@field private resumes boolean terminal mode begins when the user enters the window
---@field private pending? table identifies the last request for terminal mode until it begins
---@field private left_at? [integer, integer] the cursor's position() at the end of terminal mode
local Terminal = setmetatable({}, { __index = buffer.Terminal })
Terminal.__index = Terminal

---@type claude-code.TerminalProvider
local M = {}

--- Window that the user was in before the current one; 0 is always valid.
local left = 0
--- Window in which terminal mode began, until the cursor leaves it.
local entered = 0
local events = require("claude-code.lib.autocommands").new("terminal.mode")
events:on("WinLeave", function()
  left, entered = api.nvim_get_current_win(), 0
end)
events:on("TermEnter", function()
  entered = api.nvim_get_current_win()
end)

--- The cursor's line, counted from both ends of the buffer: new output changes only one of the two. The column does not
--- count, as the CLI moves the cursor when it draws a line again.
---@return [integer, integer]
local function position()
  local line = vim.fn.line(".")
  return { line, line - vim.fn.line("$") }
end

--- Begins terminal mode, unless the cursor is elsewhere by then.
---@private
function Terminal:enter_mode()
  self.pending = nil
  -- The mode continues without an event from one terminal to another in the same window.
  if api.nvim_get_mode().mode == "t" and api.nvim_get_current_win() == entered then
    return
  end
  local asked = {}
  self.pending = asked
  local function is_due()
    -- A new window briefly shows the terminal before its own buffer.
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

--- A pending request would lead to insert mode in the next window.
---@private
function Terminal:cancel_mode()
  local was_pending = self.pending ~= nil
  self.pending = nil
  if was_pending and vim.startswith(api.nvim_get_mode().mode, "n") then
    vim.cmd.stopinsert()
  end
  return was_pending
end

---@private
function Terminal:follow_mode()
  local function on(event, callback)
    events:on(event, callback, { buffer = self.buf })
  end
  on("TermEnter", function()
    self.pending = nil
  end)
  on("TermLeave", function()
    self.left_at = nil
    -- A mapping such as <C-\><C-n><C-w>h has left the window by then.
    vim.schedule(function()
      if api.nvim_get_current_buf() == self.buf and api.nvim_get_mode().mode == "nt" then
        self.left_at = position()
      end
    end)
  end)
  local was_pending = false
  -- Precedes WinLeave, and also fires when the window gets another buffer.
  on("BufLeave", function()
    was_pending = self:cancel_mode()
  end)
  on("WinLeave", function()
    local before, now = self.left_at, position()
    local has_read = before
      and api.nvim_get_mode().mode ~= "t"
      and before[1] ~= now[1]
      and before[2] ~= now[2]
    self.resumes = self:cancel_mode() or was_pending or not has_read
    was_pending = false
  end)
  on("WinEnter", function()
    -- If that window closed (after `:q`, or with the last row of a list), Neovim chose this one, and the user's next
    -- keys are not meant for it.
    local has_closed = not api.nvim_win_is_valid(left)
    -- While a proposal waits, the CLI asks as well, and the next Enter in its terminal would answer.
    local is_asking = require("claude-code.sessions.attention").count_diffs() > 0
    if self.resumes and not has_closed and not is_asking and buffer.is_running(self.buf) then
      self:enter_mode()
    end
  end)
end

local function remove(buf)
  window.hide(buf)
  api.nvim_buf_delete(buf, { force = true })
end

--- Its window shows the next running session, or else the first one, or closes.
function Terminal:discard()
  if not api.nvim_buf_is_valid(self.buf) then
    return
  end
  local number = self.launch.number
  local others = vim.tbl_filter(function(row)
    return row.n ~= number and row.buf ~= nil and buffer.is_running(row.buf)
  end, require("claude-code.sessions.label").own())
  local other = vim.iter(others):find(function(row)
    return row.n > number
  end) or others[1]
  if other then
    window.replace(self.buf, other.buf)
  end
  remove(self.buf)
end

--- Does the buffer still show the output of a CLI that failed?
local function has_ended(buf)
  return vim.b[buf].claude_code_terminal == true
    and vim.bo[buf].buftype == "terminal"
    and not buffer.is_running(buf)
end

---@return integer job 0 or less if it cannot be started
local function start(win, command, options)
  local job = api.nvim_win_call(win, function()
    if vim.fn.has("nvim-0.11") == 0 then
      return vim.fn.termopen(command, options) -- TODO(0.10)
    end
    options.term = true
    return vim.fn.jobstart(command, options)
  end)
  -- Many users have `autocmd TermOpen * startinsert`.
  if api.nvim_get_current_win() ~= win and api.nvim_get_mode().mode == "n" then
    vim.cmd.stopinsert()
  end
  return job
end

function M.open(launch)
  vim.iter(api.nvim_list_bufs()):filter(has_ended):each(remove)
  local buf = api.nvim_create_buf(false, true)
  local terminal = setmetatable({ buf = buf, launch = launch, resumes = true }, Terminal)
  -- The command asks for the window's size at once.
  local ok, job = pcall(start, window.show(buf), launch.command, {
    env = launch.env,
    cwd = launch.folder,
    on_exit = function(_, code)
      terminal:on_exit(code, terminal.pending ~= nil or api.nvim_get_mode().mode == "t")
    end,
  })
  if not ok or job <= 0 then
    remove(buf)
    local reason = not ok and job or "it is not executable"
    return nil, ("%s cannot be started: %s; see terminal.command"):format(launch.command[1], reason)
  end
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = window.FILETYPE
  terminal:prepare()
  window.keep(buf)
  terminal:follow_mode()
  terminal:enter_mode()
  return terminal
end

function Terminal:show()
  window.show(self.buf)
end

function Terminal:hide()
  window.hide(self.buf)
end

function Terminal:focus()
  window.show(self.buf)
  self:enter_mode()
end

function Terminal:close()
  self:cancel_mode()
  self:discard()
end

return M
