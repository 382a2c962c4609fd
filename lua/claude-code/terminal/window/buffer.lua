--- A terminal buffer in which Claude runs: its name, its keys, its end, and pasting.
local api = vim.api
local notify = require("claude-code.messages.notify")
local sessions = require("claude-code.sessions")
local timer = require("claude-code.lib.timer")

--- Base class of the providers that use a buffer.
---@class claude-code.BufferTerminal: claude-code.Terminal
---@field buf integer
---@field launch claude-code.Launch
---@field discard fun(self) removes window and buffer; may be called again
local Terminal = {}

local M = { Terminal = Terminal }

local NAME = "claude-code://terminal"

--- Keystrokes closer together than this, in ms, are one burst.
local PAUSE_MS = 500

--- Neovim passes a new size on after 10 ms, and a busy program reacts later.
local NEOVIM_MS, PROGRAM_MS = 50, 150

local function wipe_buffer_named(name, except)
  for _, buf in ipairs(api.nvim_list_bufs()) do
    if buf ~= except and api.nvim_buf_get_name(buf) == name then
      vim.cmd.bwipeout({ buf, bang = true, mods = { noautocmd = true } })
    end
  end
end

--- A session file (:mksession) with Neovim's own name, `term://…`, would start a CLI without its arguments. Our name
--- starts nothing, and plugin/claude-code.lua removes the buffer.
local function set_name(buf, number)
  local before = api.nvim_buf_get_name(buf)
  local name = number == 1 and NAME or ("%s/%d"):format(NAME, number)
  wipe_buffer_named(name, buf)
  -- Keeps the user's alternate file.
  vim.cmd.lua({
    ("vim.api.nvim_buf_set_name(%d, %q)"):format(buf, name),
    mods = { keepalt = true, silent = true },
  })
  -- Neovim keeps the old name for another, empty buffer.
  if before ~= "" then
    wipe_buffer_named(before, buf)
  end
end

---@type table<string, { [1]: string[], [2]: string, desc: string }> modes and actions for `terminal.keys`
local ACTIONS = {
  -- Without a mapping in normal mode, a second <C-q> would select a block.
  leave = { { "t", "n" }, "<C-\\><C-n>", desc = "Leave terminal mode" },
  transcript = { { "n" }, "<Cmd>Claude transcript<CR>", desc = "Show the conversation" },
  toggle = { { "n", "t" }, "<Cmd>Claude<CR>", desc = "Hide Claude" },
}

--- Opens the file under the cursor in another window than Claude's.
local function open_named(number)
  local open_file = require("claude-code.editor.open_file")
  local row = sessions.get(number) or {}
  local name, line = open_file.named(open_file.name_under_cursor(), row.cwd)
  if not name then
    return notify.warn("the text under the cursor names no file")
  end
  local _, problem = open_file.at(name, line)
  if problem then
    notify.error(problem)
  end
end

local function map_keys(buf, number)
  for name, key in pairs(require("claude-code.config").get().terminal.keys) do
    local modes, action = unpack(ACTIONS[name])
    if key then
      vim.keymap.set(modes, key, action, { buffer = buf, desc = ACTIONS[name].desc })
    end
  end
  for _, key in ipairs({ "gf", "gF" }) do
    vim.keymap.set("n", key, function()
      open_named(number)
    end, { buffer = buf, desc = "Open the file under the cursor in a window beside" })
  end
end

function M.is_running(buf)
  return api.nvim_buf_is_valid(buf) and vim.fn.jobwait({ vim.bo[buf].channel }, 0)[1] == -1
end

local function resize(buf, fewer_rows)
  local info = vim.fn.getwininfo(vim.fn.bufwinid(buf))[1]
  if info and info.height > fewer_rows and M.is_running(buf) then
    vim.fn.jobresize(vim.bo[buf].channel, info.width - info.textoff, info.height - fewer_rows)
  end
end

--- Makes the program draw its whole screen again.
function M.redraw(buf)
  resize(buf, 1)
  timer.once(PROGRAM_MS, function()
    resize(buf, 0)
  end)
end

--- Neovim (0.10 to 0.12) loses a row of a terminal whose window shrinks and grows at once, which happens when the tab
--- line disappears. The program sees no new size and does not draw again.
local function follow_tab_line()
  require("claude-code.lib.autocommands").new("terminal.redraw"):on("TabEnter", function()
    timer.once(NEOVIM_MS, function()
      if vim.o.showtabline ~= 1 or #api.nvim_list_tabpages() > 1 then
        return
      end
      for _, row in ipairs(sessions.list()) do
        if row.n and row.buf then
          M.redraw(row.buf)
        end
      end
    end)
  end)
end

--- TODO(0.11): the program sees each piece of a large paste (|vim.paste()|) as a separate paste.
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

--- Makes the buffer Claude's. Its command must have started.
---@protected
function Terminal:prepare()
  vim.b[self.buf].claude_code_terminal = true
  set_name(self.buf, self.launch.number)
  map_keys(self.buf, self.launch.number)
  follow_tab_line()
end

--- Calls back once the user stops typing.
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

--- Closes the buffer after exit code 0. If the user is typing there, the buffer first leaves terminal mode and takes
--- their keys until they pause: the next key in terminal mode would close it, and later keys would reach a file.
---@protected
---@param is_typing boolean the buffer is in terminal mode, or about to be
function Terminal:on_exit(code, is_typing)
  local buf = self.buf
  local is_here = is_typing and api.nvim_get_current_buf() == buf
  if api.nvim_buf_is_valid(buf) then
    -- Terminal mode ends as soon as anything begins it.
    api.nvim_create_autocmd("TermEnter", { buffer = buf, command = "stopinsert" })
  end
  if is_here then
    vim.cmd.stopinsert()
  end
  self.launch.on_exit(code)
  if code ~= 0 then
    return
  elseif is_here then
    when_typing_pauses(function()
      self:discard()
    end)
  else
    self:discard()
  end
end

function Terminal:is_visible()
  return vim.fn.bufwinid(self.buf) ~= -1
end

function Terminal:send(text, submit)
  M.paste(self.buf, text, submit)
end

--- Pastes text into a terminal's program between marks, which keep its line ends from submitting. Enter follows in the
--- same write, before the CLI (2.1.330) can ask something. The CLI distinguishes the two, even after 5,000 lines.
---@param text string see M.clean
---@param submit boolean press Enter, too
function M.paste(buf, text, submit)
  -- After a backslash Enter would begin a line.
  text = submit and text:gsub("\\$", "\\ ") or text
  api.nvim_chan_send(
    vim.bo[buf].channel,
    "\27[200~" .. text .. "\27[201~" .. (submit and "\r" or "")
  )
end

--- Removes control characters except tabs and line ends: with an escape, text from a file could end the paste and
--- press keys. U+0080 to U+009F count, too: U+009B is the same as ESC [.
function M.clean(text)
  text = text:gsub("\r\n?", "\n"):gsub("[%z\1-\8\11-\31\127]", "")
  local count
  repeat
    -- Removing one may join the bytes of another.
    text, count = text:gsub("\194[\128-\159]", "")
  until count == 0
  return text
end

if vim.fn.has("nvim-0.12") == 0 then
  paste_whole()
end

return M
