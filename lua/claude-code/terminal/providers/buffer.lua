--- A CLI in a terminal buffer of Neovim's, whoever shows it: the buffer's name and its keys, and text that is
--- pasted into it.
local api = vim.api
local timer = require("claude-code.lib.timer")

---@class claude-code.BufferTerminal: claude-code.Terminal
---@field buf integer
local Terminal = {}

local M = { Terminal = Terminal }

---@type table<integer, claude-code.BufferTerminal> those that nobody has ended, by their buffers
local terminals = {}

local NAME = "claude-code://terminal"

--- Keystrokes closer together than this, in ms, are one burst.
local PAUSE_MS = 500

--- Neovim hands a new size to the program after 10 ms, and a busy program looks at it some time later.
local NEOVIM_MS, PROGRAM_MS = 50, 150

local function wipe_buffer_named(name, except)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= except and api.nvim_buf_get_name(buf) == name then
      vim.cmd.bwipeout({ buf, bang = true, mods = { noautocmd = true } })
    end
  end
end

--- Neovim's own name, `term://…`, names the command without its arguments: a session file (:mksession) with
--- it would start a CLI that is not connected. With ours nothing starts, and plugin/claude-code.lua removes
--- the buffer.
---@param buf integer its command has started
---@param n integer the session's number
function M.name(buf, n)
  local before = api.nvim_buf_get_name(buf)
  local name = n == 1 and NAME or ("%s/%d"):format(NAME, n)
  wipe_buffer_named(name, buf)
  -- The alternate file is the user's.
  vim.cmd.lua({
    ("vim.api.nvim_buf_set_name(%d, %q)"):format(buf, name),
    mods = { keepalt = true, silent = true },
  })
  -- Neovim keeps the old name for another, empty buffer.
  if before ~= "" then
    wipe_buffer_named(before, buf)
  end
end

---@type table<string, { modes: string[], action: string, desc: string }>
local ACTIONS = {
  -- In Normal mode there is nothing to leave, and it does nothing: Neovim's own <C-q> selects a block.
  leave = { modes = { "t", "n" }, action = "<C-\\><C-n>", desc = "Leave terminal mode" },
  transcript = {
    modes = { "n" },
    action = "<Cmd>Claude transcript<CR>",
    desc = "Show the conversation",
  },
  toggle = { modes = { "n", "t" }, action = "<Cmd>Claude<CR>", desc = "Hide Claude" },
}

--- In another window than Claude's.
---@param n integer the session's number
local function open_named(n)
  local named = require("claude-code.editor.open_file.named")
  local row = require("claude-code.sessions").get(n) or {}
  local name, line = named.file(named.under_cursor(), row.cwd)
  local notify = require("claude-code.messages.notify")
  if not name then
    return notify.warn("the text under the cursor names no file")
  end
  local _, problem = require("claude-code.editor.open_file").at(name, line)
  if problem then
    notify.error(problem)
  end
end

--- The options `terminal.keys`, and what Neovim would show in Claude's window.
local function map_keys(terminal)
  local buf = terminal.buf
  for name, key in pairs(require("claude-code.config").get().terminal.keys) do
    local entry = ACTIONS[name]
    if key then
      vim.keymap.set(entry.modes, key, entry.action, { buffer = buf, desc = entry.desc })
    end
  end
  for _, key in ipairs({ "gf", "gF" }) do
    vim.keymap.set("n", key, function()
      open_named(terminal.n)
    end, { buffer = buf, desc = "Open the file under the cursor in a window beside" })
  end
end

---@param fewer integer rows
local function resize(terminal, fewer)
  local info = vim.fn.getwininfo(vim.fn.bufwinid(terminal.buf))[1]
  if info and info.height > fewer and terminal:is_open() then
    local width, height = info.width - info.textoff, info.height - fewer
    vim.fn.jobresize(vim.bo[terminal.buf].channel, width, height)
  end
end

--- Lets the program draw the whole screen again.
function Terminal:redraw()
  resize(self, 1)
  timer.once(PROGRAM_MS, function()
    resize(self, 0)
  end)
end

--- Neovim (0.10 to 0.12) loses a row of a terminal whose window gets smaller and bigger in one moment, and its
--- program, whose size is the same, does not draw again. The tab line does that as the last tab page but one closes:
--- programs then get another size, and their own again.
local function follow_tab_line()
  require("claude-code.lib.autocommands").new("terminal.redraw"):on("TabEnter", function()
    timer.once(NEOVIM_MS, function()
      if vim.o.showtabline ~= 1 or #vim.api.nvim_list_tabpages() > 1 then
        return
      end
      for _, terminal in ipairs(M.open()) do
        terminal:redraw()
      end
    end)
  end)
end

--- TODO(0.11): a large paste comes in pieces (|vim.paste()|), each of which is a paste of its own to the program.
local function paste_whole()
  local paste, pieces = vim.paste, nil ---@type function, string[]?
  vim.paste = function(lines, phase)
    if phase == 1 and vim.b.claude_code_terminal and api.nvim_get_mode().mode == "t" then
      pieces = { "" }
    end
    if not pieces or phase == -1 then
      return paste(lines, phase)
    end
    pieces[#pieces] = pieces[#pieces] .. (lines[1] or "")
    vim.list_extend(pieces, lines, 2)
    if phase ~= 3 then
      return true
    end
    local whole = pieces
    pieces = nil
    return paste(whole, -1)
  end
end

--- Makes a buffer Claude's, once its command has started.
---@param terminal claude-code.BufferTerminal
---@param n integer the session's number
function M.add(terminal, n)
  local buf = terminal.buf
  terminals[buf], terminal.n = terminal, n
  vim.b[buf].claude_code_terminal = true
  M.name(buf, n)
  map_keys(terminal)
  follow_tab_line()
end

---@return claude-code.BufferTerminal[] whose commands run, in the order of their sessions
function M.open()
  local open = vim.tbl_filter(Terminal.is_open, vim.tbl_values(terminals))
  table.sort(open, function(a, b)
    return a.n < b.n
  end)
  return open
end

---@param buf integer
---@return boolean is it one that nobody has ended?
function M.is_known(buf)
  return terminals[buf] ~= nil
end

---@param buf integer of a terminal
---@return boolean does its command run?
function M.runs(buf)
  return vim.fn.jobwait({ vim.bo[buf].channel }, 0)[1] == -1
end

function Terminal:is_open()
  return terminals[self.buf] == self and api.nvim_buf_is_valid(self.buf) and M.runs(self.buf)
end

---@return boolean known false if it was ended before
function Terminal:forget()
  if terminals[self.buf] ~= self then
    return false
  end
  terminals[self.buf] = nil
  return true
end

--- Calls back once no key was typed for a while.
local function when_typing_pauses(callback)
  local namespace = api.nvim_create_namespace("claude-code.terminal.exited")
  local on_key, cancel
  on_key, cancel = timer.debounce(PAUSE_MS, function()
    cancel()
    vim.on_key(nil, namespace)
    callback()
  end)
  vim.on_key(on_key, namespace)
  on_key()
end

local function report_end(launch, code)
  local notify = require("claude-code.messages.notify")
  local sessions = require("claude-code.sessions")
  local row = sessions.get(launch.n) or {}
  local name = require("claude-code.sessions.label").of(launch.n)
  launch.on_exit()
  if code ~= 0 then
    notify.warn(("%s ended with code %d; its output is in the window"):format(name, code))
  elseif launch.is_background or row.job and sessions.get({ job = row.job }) then
    notify.info(name .. " works in the background; :Claude sessions shows it")
  else
    notify.info(name .. " has ended")
  end
end

--- Its command has ended, perhaps while the user was typing there: the next key of terminal mode would close the
--- buffer, and the keys after that would go to the file below. So the buffer leaves terminal mode and takes these
--- keys, until the user pauses. After exit code 0 it is closed then.
---@protected
---@param launch claude-code.TerminalLaunch
---@param code integer
---@param is_typing boolean whether terminal mode is on there, or about to begin
---@param close fun()
function Terminal:on_exit(launch, code, is_typing, close)
  if not self:forget() then
    return -- we have ended it
  end
  local buf = self.buf
  if api.nvim_buf_is_valid(buf) then
    -- Terminal mode, in whatever way it is asked for, ends as it begins.
    api.nvim_create_autocmd("TermEnter", { buffer = buf, command = "stopinsert" })
  end
  local is_here = is_typing and api.nvim_get_current_buf() == buf
  if is_here then
    vim.cmd.stopinsert()
  end
  report_end(launch, code)
  if code == 0 and is_here then
    when_typing_pauses(close)
  elseif code == 0 then
    close()
  end
end

function Terminal:is_visible()
  return require("claude-code.terminal.providers.window").find(self.buf) ~= nil
end

function Terminal:has_drawn()
  local lines = api.nvim_buf_get_lines(self.buf, 0, vim.o.lines, false)
  return vim.iter(lines):any(function(line)
    return line:find("%S") ~= nil
  end)
end

function Terminal:send(text)
  M.paste(vim.bo[self.buf].channel, text)
  return true
end

function Terminal:submit()
  api.nvim_chan_send(vim.bo[self.buf].channel, "\r")
end

local START, END = "\27[200~", "\27[201~"

--- Control characters are left out, tab and line end aside: with an escape in it, text from a
--- file could end the paste and press keys of its own. U+0080 to U+009F are control characters, too:
--- U+009B begins a sequence as ESC [ does.
---@param text string
---@return string
function M.clean(text)
  text = text:gsub("\r\n?", "\n"):gsub("[%z\1-\8\11-\31\127]", "")
  local count
  repeat
    -- What stood on both sides of one may be another one together.
    text, count = text:gsub("\194[\128-\159]", "")
  until count == 0
  return text
end

--- Pastes text into the program of a terminal: between marks, so that line ends in it do not submit anything.
---@param channel integer
---@param text string
---@param submit? boolean press Enter in the same moment
function M.paste(channel, text, submit)
  api.nvim_chan_send(channel, START .. M.clean(text) .. END .. (submit and "\r" or ""))
end

if vim.fn.has("nvim-0.12") == 0 then
  paste_whole()
end

return M
