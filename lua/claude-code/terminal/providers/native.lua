--- The CLI in a terminal buffer of Neovim's own. Its window comes and goes, the job stays.
local api = vim.api
local buffer_name = require("claude-code.terminal.buffer_name")
local window = require("claude-code.terminal.window")

---@class claude-code.NativeProvider: claude-code.TerminalProvider
local M = {}

--- A mapping such as <C-\><C-n><C-w>h leaves terminal mode and the window within this time, in ms;
--- a user who leaves terminal mode to read takes longer.
local SAME_KEY_MS = 100
local RETRY_MS, TRIES = 20, 10

---@class claude-code.NativeTerminal
---@field buf integer
---@field job integer
---@field resumes_typing boolean whether terminal mode comes back with the window
---@field startinsert_pending boolean whether terminal mode is asked for, but has not begun
---@field left_mode_at number vim.uv.now() of the last end of terminal mode

---@type claude-code.NativeTerminal?
local terminal
---@type integer? buffer of one that has ended
local exited_buf

---@return claude-code.NativeTerminal? terminal whose command still runs
local function running()
  if terminal and not api.nvim_buf_is_valid(terminal.buf) then
    terminal = nil
  end
  return terminal and vim.fn.jobwait({ terminal.job }, 0)[1] == -1 and terminal or nil
end

--- One try after the other until terminal mode has begun. TODO(0.10): a terminal mode that is about
--- to end also ends one that was just asked for.
---@param tries integer
local function try_startinsert(tries)
  vim.schedule(function()
    local here = terminal and api.nvim_get_current_buf() == terminal.buf
    if not here or not terminal.startinsert_pending or tries == 0 then
      return
    elseif api.nvim_get_mode().mode ~= "t" then
      vim.cmd.startinsert()
    end
    vim.defer_fn(function()
      try_startinsert(tries - 1)
    end, RETRY_MS)
  end)
end

--- Terminal mode, unless the cursor is elsewhere by the time Neovim gets to it.
local function enter_terminal_mode()
  if terminal then
    terminal.startinsert_pending = true
    try_startinsert(TRIES)
  end
end

--- Terminal mode that is still pending would become insert mode in the window that comes next.
---@param leaving claude-code.NativeTerminal
---@return boolean was_pending
local function cancel_startinsert(leaving)
  local was_pending = leaving.startinsert_pending
  leaving.startinsert_pending = false
  if was_pending and vim.startswith(api.nvim_get_mode().mode, "n") then
    vim.cmd.stopinsert()
  end
  return was_pending
end

---@param buf? integer
local function discard(buf)
  if buf and api.nvim_buf_is_valid(buf) then
    window.hide(buf)
    api.nvim_buf_delete(buf, { force = true })
  end
end

---@param ended claude-code.NativeTerminal
---@param code integer
local function on_exit(ended, code)
  if terminal ~= ended then
    return -- we ended it
  end
  terminal, exited_buf = nil, ended.buf
  local is_typing = ended.startinsert_pending or api.nvim_get_mode().mode == "t"
  require("claude-code.terminal.exited").handle(ended.buf, code, is_typing, function()
    discard(ended.buf)
  end)
end

--- Does a proposal wait for an answer? Then the CLI asks as well, and the next Enter in its terminal
--- would be the answer.
---@return boolean
local function is_asking()
  local diff = package.loaded["claude-code.editor.diff"]
  return diff ~= nil and diff.count() > 0
end

--- Terminal mode comes back with the window, unless it was left to read.
---@param buf integer
---@param group integer
local function follow_mode(buf, group)
  local function on(event, callback)
    api.nvim_create_autocmd(event, { group = group, buffer = buf, callback = callback })
  end
  on("TermEnter", function()
    if terminal then
      terminal.startinsert_pending = false
    end
  end)
  on("TermLeave", function()
    if terminal then
      terminal.left_mode_at = vim.uv.now()
    end
  end)
  on("WinLeave", function()
    if terminal then
      terminal.resumes_typing = cancel_startinsert(terminal)
        or api.nvim_get_mode().mode == "t"
        or vim.uv.now() - terminal.left_mode_at < SAME_KEY_MS
    end
  end)
  local leaves_diff = false
  api.nvim_create_autocmd({ "TabLeave", "TabEnter" }, {
    group = group,
    callback = function(args)
      leaves_diff = args.event == "TabLeave" and require("claude-code.editor.diff.tab").is_ours(0)
    end,
  })
  on("WinEnter", function()
    -- A user who leaves a diff for another tab page did not choose the terminal there, and the CLI asks
    -- about the diff: the next Enter would accept it.
    if terminal and terminal.resumes_typing and not leaves_diff and not is_asking() then
      enter_terminal_mode()
    end
  end)
end

--- Would anything but our terminal keep Neovim from ending?
---@return boolean
local function is_exit_doubtful()
  return vim.iter(api.nvim_list_bufs()):any(function(buf)
    if terminal and buf == terminal.buf then
      return false
    elseif vim.bo[buf].buftype == "terminal" then
      return vim.fn.jobwait({ vim.bo[buf].channel }, 0)[1] == -1
    end
    return vim.bo[buf].modified and vim.tbl_contains({ "", "acwrite" }, vim.bo[buf].buftype)
  end)
end

--- Neovim refuses to end while a terminal's command runs. Claude is no reason to stay; but it stays
--- where Neovim will be kept by something else.
---@param group integer
local function end_with_neovim(group)
  api.nvim_create_autocmd("ExitPre", {
    group = group,
    callback = function()
      if terminal and not is_exit_doubtful() then
        -- Neovim stays if the window goes in which `:qa` was typed.
        window.replace_buffer(terminal.buf)
        M.close()
      end
    end,
  })
end

---@param win integer
---@param command string[]
---@param options table
---@return integer job 0 or less if it cannot be started
local function start(win, command, options)
  local job = api.nvim_win_call(win, function()
    if vim.fn.has("nvim-0.11") == 0 then
      return vim.fn.termopen(command, options) -- TODO(0.10)
    end
    options.term = true
    return vim.fn.jobstart(command, options)
  end)
  -- Many have `autocmd TermOpen * startinsert`.
  if api.nvim_get_current_win() ~= win and api.nvim_get_mode().mode == "n" then
    vim.cmd.stopinsert()
  end
  return job
end

function M.open(command, env, folder)
  discard(exited_buf)
  local buf = api.nvim_create_buf(false, true)
  ---@type claude-code.NativeTerminal
  local opened =
    { buf = buf, job = 0, resumes_typing = true, startinsert_pending = false, left_mode_at = 0 }
  -- The window comes first: the command asks for its size at once.
  local ok, job = pcall(start, window.show(buf), command, {
    env = env,
    cwd = folder,
    on_exit = function(_, code)
      on_exit(opened, code)
    end,
  })
  if not ok or job <= 0 then
    discard(buf)
    local reason = not ok and job or "it is not executable"
    return false, ("%s cannot be started: %s; see terminal.command"):format(command[1], reason)
  end
  opened.job, terminal = job, opened
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = window.FILETYPE
  vim.b[buf].claude_code_terminal = true
  buffer_name.set(buf)
  require("claude-code.terminal.keys").map(buf)
  local group = api.nvim_create_augroup("claude-code.terminal", { clear = true })
  follow_mode(buf, group)
  end_with_neovim(group)
  enter_terminal_mode()
  return true
end

function M.is_open()
  return running() ~= nil
end

function M.is_visible()
  local open = running()
  return open ~= nil and window.find(open.buf) ~= nil
end

--- Ends it; the windows that show it get closed.
function M.close()
  local ending = terminal
  terminal = nil
  if ending then
    cancel_startinsert(ending)
    discard(ending.buf)
  end
end

--- From anywhere to the terminal, and back.
function M.focus()
  local open = running()
  if open and api.nvim_get_current_buf() == open.buf then
    vim.cmd.wincmd("p")
  elseif open then
    window.show(open.buf)
    enter_terminal_mode()
  end
end

function M.toggle()
  local open = running()
  if open and window.find(open.buf) then
    window.hide(open.buf)
  elseif open then
    window.show(open.buf)
    enter_terminal_mode()
  end
end

function M.send(text)
  local open = running()
  if not open then
    return false
  end
  api.nvim_chan_send(open.job, require("claude-code.terminal.paste").bracketed(text))
  return true
end

function M.submit()
  local open = running()
  if open then
    api.nvim_chan_send(open.job, "\r")
  end
end

return M
