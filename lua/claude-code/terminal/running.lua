--- The terminals of this Neovim's sessions, and the contract with the providers that open them:
--- |claude-code-terminal-provider|. Only this module calls a provider.
local api = vim.api
local label = require("claude-code.sessions.label")
local notify = require("claude-code.messages.notify")
local sessions = require("claude-code.sessions")

local M = {}

---@class claude-code.Launch
---@field command string[]
---@field env table<string, string>
---@field folder string
---@field number integer of the session
---@field is_background? boolean the command hands the session to a daemon, and ends
---@field on_exit fun(code?: integer) the terminal calls it when the command has ended

---@class claude-code.Terminal
---@field send fun(self, text: string, submit: boolean): boolean?, string? pastes text, and presses Enter if `submit`
---@field close fun(self) ends the command
---@field show? fun(self)
---@field hide? fun(self)
---@field focus? fun(self) moves the cursor there
---@field is_visible? fun(self): boolean
---@field has_drawn? fun(self): boolean does the program show something? Text waits for that
---@field buf? integer its terminal buffer in Neovim
---@field pid? integer the command's process, if there is no buffer
---@field where? string word for its place outside of Neovim
---@field outlives? boolean it continues after Neovim's end
---@field number? integer of the session; `left` and running.lua set it
---@field folder? string for a terminal of `left`

---@class claude-code.TerminalProvider
---@field name? string for messages
---@field open fun(launch: claude-code.Launch): claude-code.Terminal?, string? starts the command, shows it and moves
--- the cursor there; returns nil and a message if it fails
---@field check? fun(): string?, string? why it cannot open terminals, and a remedy
---@field left? fun(): claude-code.Terminal[] the workspace's terminals that outlived their Neovim, each once

---@type table<integer, { terminal: claude-code.Terminal, provider: string }> by the session's number
local running = {}

local events = require("claude-code.lib.autocommands").new("terminal.used")

---@return claude-code.TerminalProvider
---@return string name for messages
local function get_provider()
  local option = require("claude-code.config").get().terminal.provider
  if type(option) == "table" then
    return option, option.name or "your own"
  end
  return require("claude-code.terminal.providers." .. option), option
end

--- Calls a provider's function, and reports an error. Returns nil if the function is missing or fails.
---@param of table the provider, or its terminal
local function call(provider, of, name, ...)
  if not of[name] then
    return nil
  end
  local ok, value, more = pcall(of[name], ...)
  if not ok then
    local words = "%s() of the terminal provider %q failed: %s"
    notify.error(notify.refusal(value) or words:format(name, provider, value))
    return nil
  end
  return value, more
end

local function call_terminal(n, name, ...)
  local one = running[n]
  if one then
    local value, message = call(one.provider, one.terminal, name, one.terminal, ...)
    if not value and message then
      notify.error(message)
    end
    return value
  end
end

--- Buffers follow their files while any CLI runs.
local function update_reload()
  require("claude-code.editor.documents.auto_reload").set("terminal", M.is_any_open)
end

local function remove(n)
  running[n] = nil
  sessions.remove(n)
end

local function is_alive(n, terminal)
  local row = sessions.get(n)
  if row and terminal.buf then
    return require("claude-code.terminal.window.buffer").is_running(terminal.buf)
  end
  -- A provider may not know the process.
  local pid = row and (terminal.pid or row.pid)
  return row ~= nil and (not pid or require("claude-code.programs").is_alive(pid))
end

--- A provider whose terminal is no buffer may not report the end, such as that of a tmux pane.
local function remove_ended()
  for n, one in pairs(running) do
    if not one.terminal.buf and not is_alive(n, one.terminal) then
      remove(n)
    end
  end
end

local function keep(n, provider, terminal)
  running[n], terminal.number = { terminal = terminal, provider = provider }, n
  update_reload()
  local buf = terminal.buf
  sessions.set(n, { buf = buf, where = terminal.where, pid = not buf and terminal.pid or nil })
  if buf then
    events:on("BufEnter", function()
      sessions.use(n)
    end, { buffer = buf })
  end
end

---@param buf? integer with its output
local function report_end(launch, code, buf)
  local n = launch.number
  local row, name = sessions.get(n) or {}, label.of(n)
  remove(n)
  if code and code ~= 0 then
    local output = buf and api.nvim_buf_is_valid(buf) and "; its output is in the window" or ""
    notify.warn(("%s ended with code %d%s"):format(name, code, output))
  elseif launch.is_background or row.job and sessions.get({ job = row.job }) then
    notify.info(name .. " works in the background; :Claude sessions shows it")
  else
    notify.info(name .. " has ended")
  end
end

---@return string name of the provider
---@return string? problem why it cannot open terminals
---@return string? remedy
function M.check()
  local provider, name = get_provider()
  return name, call(name, provider, "check")
end

local function is_terminal(terminal)
  return type(terminal) == "table"
    and type(terminal.send) == "function"
    and type(terminal.close) == "function"
    and (not terminal.pid or type(terminal.pid) == "number")
    and (not terminal.buf or type(terminal.buf) == "number" and api.nvim_buf_is_valid(terminal.buf))
end

---@return claude-code.Terminal?
---@return string? message
local function open(provider, name, launch)
  local problem, remedy = call(name, provider, "check")
  if problem then
    return nil, ("terminal.provider is %q, but %s; %s"):format(name, problem, remedy)
  end
  local terminal, message = call(name, provider, "open", launch)
  if terminal and not is_terminal(terminal) then
    local words = "open() of the terminal provider %q returned no table with send() and close(), or "
      .. "`buf` or `pid` is not a number; see :help claude-code-terminal-provider"
    return nil, words:format(name)
  end
  return terminal, message
end

---@param launch claude-code.Launch without `on_exit`
---@return boolean opened if not, a message said why
function M.open(launch)
  local provider, name = get_provider()
  local n = launch.number
  local terminal, message ---@type claude-code.Terminal?, string?
  local is_opening = true
  function launch.on_exit(code)
    -- A callback of libuv, or open(), may call it.
    if is_opening or vim.in_fast_event() then
      return vim.schedule(function()
        launch.on_exit(code)
      end)
    end
    -- Another session may have the number by now.
    if terminal and running[n] and running[n].terminal == terminal then
      report_end(launch, tonumber(code), terminal.buf)
    end
  end
  terminal, message = open(provider, name, launch)
  is_opening = false
  if not terminal then
    sessions.remove(n)
    if message then
      notify.error(message)
    end
    return false
  end
  keep(n, name, terminal)
  -- The cursor may have passed another session on its way to the window.
  sessions.use(n)
  return true
end

--- Adds sessions for the terminals that outlived their Neovim.
function M.adopt()
  local provider, name = get_provider()
  local left = call(name, provider, "left")
  for _, terminal in ipairs(vim.tbl_filter(is_terminal, type(left) == "table" and left or {})) do
    terminal.number = type(terminal.number) == "number" and terminal.number or nil
    local n = sessions.add({ n = terminal.number, cwd = terminal.folder })
    keep(n, name, terminal)
    -- Its CLI reports its name, and still looks for the server of the Neovim that has ended.
    sessions.refresh(function()
      require("claude-code.server").ensure({}, function()
        local row = sessions.get(n)
        if row and not row.connected then
          local words = "%s still runs in its terminal; type /ide there and choose Neovim"
          notify.info(words:format(label.of(n)))
        end
      end)
    end)
  end
end

---@return boolean runs
function M.is_open(n)
  return running[n] ~= nil and is_alive(n, running[n].terminal)
end

---@return boolean its process has ended, and this is not reported yet
function M.has_ended(n)
  return running[n] ~= nil and not M.is_open(n)
end

---@return claude-code.Terminal?
function M.terminal(n)
  return M.is_open(n) and running[n].terminal or nil
end

---@return integer[] numbers of the running sessions, in order
function M.list()
  local numbers = vim.tbl_filter(M.is_open, vim.tbl_keys(running))
  table.sort(numbers)
  return numbers
end

function M.is_any_open()
  return #M.list() > 0
end

---@return integer? n nil if no CLI runs
function M.current()
  local numbers = M.list()
  local n = sessions.current()
  return running[n or 0] and n or numbers[1]
end

--- Shows its terminal and moves there.
function M.focus(n)
  if call_terminal(n, "is_visible") == false then
    call_terminal(n, "show")
  end
  call_terminal(n, "focus")
  sessions.use(n)
end

function M.toggle(n)
  if running[n].terminal.hide and call_terminal(n, "is_visible") then
    call_terminal(n, "hide")
    sessions.use(n)
  else
    M.focus(n)
  end
end

---@return boolean false if the provider does not know
function M.is_hidden(n)
  return call_terminal(n, "is_visible") == false
end

function M.close(n)
  local one = running[n]
  if one then
    -- An on_exit() within close() is not reported: the user has asked for the end.
    running[n] = nil
    call(one.provider, one.terminal, "close", one.terminal)
    remove(n)
    update_reload()
  end
end

--- The CLI reports a question a moment after it has drawn it.
local SETTLE_MS = 100
--- A program that draws nothing gets the text after 10 s.
local MAX_DRAW_TRIES = 100

---@type table<claude-code.Terminal, (fun(waited: boolean))[]> calls that wait for the terminal
local waiting = {}

--- Calls back, in the order of the calls, once the terminal shows something or has ended. A CLI (2.1.330) drops the
--- Enter of a text that it receives before it shows its prompt, and an early question, such as whether the user trusts
--- the folder, swallows the whole text.
local function when_drawn(n, terminal, callback)
  if waiting[terminal] then
    table.insert(waiting[terminal], callback)
  elseif call_terminal(n, "has_drawn") ~= false then
    callback(false)
  else
    waiting[terminal] = { callback }
    local tries, is_over, cancel = 0, false, nil
    cancel = require("claude-code.lib.timer").every(SETTLE_MS, function()
      if is_over then
        cancel()
        local callbacks = waiting[terminal]
        waiting[terminal] = nil
        for _, waiting_callback in ipairs(callbacks) do
          waiting_callback(true)
        end
      end
      tries = tries + 1
      is_over = tries == MAX_DRAW_TRIES
        or M.terminal(n) ~= terminal
        or call_terminal(n, "has_drawn") ~= false
    end)
  end
end

--- Pastes text into the prompt of a session's CLI, once it shows one.
---@param options? { submit?: boolean, n?: integer, refuse?: fun(): boolean } `refuse` is called after a wait, since the
--- CLI may ask something then
---@return integer? n of the session; nil if no CLI runs in a terminal
function M.send(text, options)
  options = options or {}
  local n = options.n or M.current()
  local terminal = n and M.terminal(n)
  if not terminal then
    return nil
  end
  local is_refused = false
  when_drawn(n, terminal, function(waited)
    if waited and M.terminal(n) ~= terminal then
      notify.warn("Claude has ended and did not receive: " .. text)
    elseif not (waited and options.refuse and options.refuse()) then
      local clean = require("claude-code.terminal.window.buffer").clean(text)
      is_refused = call_terminal(n, "send", clean, options.submit or false) == false
    end
  end)
  return not is_refused and n or nil
end

events:on("User", remove_ended, { pattern = "ClaudeCodeSessionChanged" })

-- Neovim ends the jobs of its own buffers.
events:on("VimLeavePre", function()
  for n, one in pairs(running) do
    if not one.terminal.buf and not one.terminal.outlives then
      call_terminal(n, "close")
    end
  end
end)

return M
