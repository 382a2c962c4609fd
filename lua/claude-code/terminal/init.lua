--- Claude's terminals as commands use them: start, show, hide and end one, or go to a session wherever it runs. Without
--- a number the current session is meant.
local notify = require("claude-code.messages.notify")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local start = require("claude-code.terminal.start")

local M = {}

--- A tab page with a folder of its own (|:tcd|) has the session that was shown there, or that runs in this folder. Any
--- other tab page has the current session.
local function current()
  local n = running.current()
  local is_any = not n or vim.fn.haslocaldir(-1, 0) == 0 or vim.t.claude_code_session == n
  local folder = not is_any and require("claude-code.terminal.launch").folder()
  return (is_any or sessions.get(n).cwd == folder) and n or nil
end

---@class claude-code.TerminalOptions
---@field restart? boolean end a CLI that runs, and start another
---@field n? integer number of a session that runs

---@type table<string, string>
M.PLACES = {
  here = "another terminal of this Neovim",
  outside = "another terminal",
  neovim = "another Neovim",
  background = "the background",
}

--- Shows a session of this Neovim; opens a terminal for one in the background (`claude attach`); says where any other
--- one runs. A session that runs is never resumed: two Claudes would write into one file.
---@param row claude-code.SessionRow
function M.go_to(row)
  if row.n then
    running.focus(row.n)
  elseif row.job then
    local folder = vim.fn.isdirectory(row.cwd or "") == 1 and row.cwd or nil
    start.run({ "attach", row.job }, nil, folder)
  elseif row.buf and vim.api.nvim_buf_is_valid(row.buf) then
    vim.cmd.sbuffer(row.buf)
  else
    local name = require("claude-code.sessions.label").name(row)
    local process = row.pid and (" (process %d)"):format(row.pid) or ""
    notify.info(("%s runs in %s%s"):format(name, M.PLACES[row.where], process))
  end
end

--- Resumes a past conversation, or shows it if it was resumed in the meantime.
---@param past claude-code.Conversation
function M.resume(past)
  local row = sessions.get({ id = past.id })
  if row then
    M.go_to(row)
  elseif vim.fn.isdirectory(past.cwd) == 0 then
    local text = "Claude resumes this conversation only in %s, and that folder is gone"
    notify.warn(text:format(past.cwd))
  else
    start.run({ "--resume", past.id }, nil, past.cwd)
  end
end

local function is_named(row, session)
  if row.job and session.job then
    -- To the CLI, a part of the name will do.
    return row.job == session.job or (row.name or ""):find(session.job, 1, true) ~= nil
  end
  return row.id ~= nil and row.id == session.id
end

--- Finds the session that runs already and that these arguments of the CLI resume, or attach.
---@param callback fun(row?: claude-code.SessionRow) at once if they name no session
local function find_running(arguments, callback)
  local session = require("claude-code.terminal.launch").session_of(arguments)
  if session.is_new or not (session.id or session.job) then
    return callback(nil)
  end
  sessions.refresh(function()
    callback(vim.iter(sessions.list()):find(function(row)
      return is_named(row, session)
    end))
  end)
end

--- May a command name this session? It may also name the first one, which it then starts.
---@param n integer
---@return boolean
function M.has(n)
  return running.is_open(n) or n == 1 and not running.is_any_open()
end

--- Starts another session, or shows the conversation that the arguments name if it runs.
---@param arguments string[] for the CLI
function M.new(arguments)
  find_running(arguments, function(row)
    if row then
      M.go_to(row)
    else
      start.run(arguments)
    end
  end)
end

---@param row? claude-code.SessionRow of the session that the arguments name
local function open(row, arguments, options)
  local n = options.n or current()
  if row and not (options.restart and row.n == n) then
    return M.go_to(row)
  elseif n and not options.restart then
    running.focus(n)
    if #arguments > 0 then
      local text = "Claude is already running; :Claude! restarts it, :Claude new starts another"
      notify.warn(text)
    end
  else
    if n then
      running.close(n)
    end
    start.run(arguments, n)
  end
end

--- Starts the CLI, or shows the one that runs and moves there.
---@param arguments? string[] for the CLI
---@param options? claude-code.TerminalOptions
function M.open(arguments, options)
  options, arguments = options or {}, arguments or {}
  if start.is_waiting() then
    start.notify_if_downloading()
    return
  end
  if not running.is_any_open() then
    running.take_left()
  end
  find_running(arguments, function(row)
    open(row, arguments, options)
  end)
end

--- Starts the CLI, or hides or shows its terminal.
---@param arguments? string[] for the CLI, at its start
---@param options? claude-code.TerminalOptions
function M.toggle(arguments, options)
  options = options or {}
  local n = options.n or current()
  if not n or options.restart or #(arguments or {}) > 0 then
    M.open(arguments, options)
  else
    running.toggle(n)
  end
end

--- Ends the current session, or cancels a start, and names it if there are several. A session that works or asks
--- something ends only with `force`.
---@param force? boolean
---@return boolean found false if no CLI ran or was about to start
function M.close(force)
  local was_waiting = start.cancel()
  local n = not was_waiting and running.current()
  if not n then
    return was_waiting
  end
  local label, row = require("claude-code.sessions.label"), sessions.get(n) or {}
  local name, several = label.of(n), #running.list() > 1
  -- A session in the background continues without its terminal.
  if label.is_busy(row) and row.where ~= "background" and not force then
    notify.warn(label.sentence(row) .. "; :Claude close! ends it anyway")
    return true
  end
  running.close(n)
  if several then
    notify.info(name .. " was ended")
  end
  return true
end

--- Ends all but those that outlive Neovim, and cancels what is about to start.
function M.close_all()
  start.cancel()
  for _, n in ipairs(running.list()) do
    if not running.terminal(n).outlives then
      running.close(n)
    end
  end
end

return M
