--- The Claude CLIs in terminals beside the editor. What a terminal is, the provider knows. Where no
--- session is named, the current one is meant.
local go_to = require("claude-code.terminal.go_to")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local start = require("claude-code.terminal.start")

local M = {}

--- The session that a tab page with a folder of its own (|:tcd|) has: one that was shown there, or that
--- runs in this folder. Any other tab page has the current session.
local function current()
  local n = running.current()
  local is_any = not n or vim.fn.haslocaldir(-1, 0) == 0 or vim.t.claude_code_session == n
  local folder = not is_any and require("claude-code.terminal.launch").folder()
  return (is_any or sessions.get(n).cwd == folder) and n or nil
end

---@class claude-code.TerminalOptions
---@field restart? boolean end a CLI that runs, and start another
---@field n? integer number of a session that runs

---@return boolean does any CLI run?
function M.is_open()
  return running.is_any_open()
end

--- May a command name this session? One that starts a first session may, too.
---@param n integer
---@return boolean
function M.has(n)
  return running.is_open(n) or n == 1 and not running.is_any_open()
end

--- Starts another session. A conversation that runs is shown instead.
---@param arguments string[] for the CLI
function M.new(arguments)
  go_to.find(arguments, function(row)
    if row then
      go_to.session(row)
    else
      start.run(arguments)
    end
  end)
end

---@param row? claude-code.SessionRow of the session that the arguments name
local function open(row, arguments, options)
  local n = options.n or current()
  if row and not (options.restart and row.n == n) then
    return go_to.session(row)
  elseif n and not options.restart then
    running.focus(n)
    if #arguments > 0 then
      local text = "Claude is already running; :Claude! restarts it, :Claude new starts another"
      require("claude-code.messages.notify").warn(text)
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
  go_to.find(arguments, function(row)
    open(row, arguments, options)
  end)
end

--- Starts the CLI, or hides it, or shows it again.
---@param arguments? string[] for the CLI, at its start
---@param options? claude-code.TerminalOptions
function M.toggle(arguments, options)
  options = options or {}
  local n = options.n or current()
  if not n or options.restart or #(arguments or {}) > 0 then
    return M.open(arguments, options)
  elseif running.terminal(n).toggle then
    running.call(n, "toggle")
    sessions.use(n)
  else
    running.focus(n)
  end
end

--- Ends the current session, or cancels a start, and names it where there are several. One that works or asks
--- something needs `force`.
---@param force? boolean
---@return boolean found false if none ran, nor was about to start
function M.close(force)
  local was_waiting = start.cancel()
  local n = not was_waiting and running.current()
  if not n then
    return was_waiting
  end
  local label, row = require("claude-code.sessions.label"), sessions.get(n) or {}
  local name, several = label.of(n), #running.list() > 1
  local notify = require("claude-code.messages.notify")
  -- One in the background goes on without its terminal.
  if label.is_busy(row) and row.where ~= "background" and not force then
    notify.warn(label.sentence(row) .. "; :Claude close! ends it all the same")
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

--- It says that it asks something a moment after it has drawn the question.
local SETTLE_MS = 100
--- A program that draws nothing gets it all the same, after 10 s.
local DRAW_TRIES = 100

---@type table<claude-code.Terminal, (fun(waited: boolean))[]> what waits
local waiting = {}

local function has_drawn(terminal)
  return not terminal.has_drawn or terminal:has_drawn()
end

local function wait(terminal, tries)
  local is_over = tries == 0 or not terminal:is_open() or has_drawn(terminal)
  require("claude-code.lib.timer").once(SETTLE_MS, function()
    if not is_over then
      return wait(terminal, tries - 1)
    end
    local callbacks = waiting[terminal]
    waiting[terminal] = nil
    for _, callback in ipairs(callbacks) do
      callback(true)
    end
  end)
end

--- Calls back once the terminal shows something, or has ended: at once if it does, and in the order of the calls.
--- A text that a CLI gets before it shows its prompt loses its Enter; a question that it asks first, as whether
--- its user trusts the folder, swallows the text, too (measured with 2.1.330).
local function when_drawn(terminal, callback)
  if waiting[terminal] then
    table.insert(waiting[terminal], callback)
  elseif has_drawn(terminal) then
    callback(false)
  else
    waiting[terminal] = { callback }
    wait(terminal, DRAW_TRIES)
  end
end

--- Pastes text into the prompt of a session's CLI; into that of one that has just been started once it is there.
---@param text string
---@param options? { submit?: boolean, n?: integer, refuse?: fun(): boolean } refuse: asked after a wait, when the CLI
--- may ask something
---@return integer? n of the session; nil if no CLI runs in a terminal
function M.send(text, options)
  options = options or {}
  local n = options.n or running.current()
  local terminal = n and running.terminal(n)
  if not terminal then
    return nil
  end
  local failed = false
  when_drawn(terminal, function(waited)
    if waited and running.terminal(n) ~= terminal then
      require("claude-code.messages.notify").warn("Claude has ended and did not receive: " .. text)
    elseif waited and options.refuse and options.refuse() then
      return
    elseif running.call(n, "send", text) == false then
      failed = true
    elseif options.submit then
      running.call(n, "submit")
    end
  end)
  return not failed and n or nil
end

return M
