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

---How long a text waits, in ms, for a CLI that reports nothing, and for a mod after the CLI has begun.
M.MAX_START_MS, M.MAX_MOD_MS = 10000, 3000
local LOOK_MS = 100

---@class claude-code.RunningTerminal
---@field terminal claude-code.Terminal
---@field provider string
---@field starting? (fun())[] calls that wait until the CLI has begun

---@type table<integer, claude-code.RunningTerminal> by the session's number
local running = {}

local events = require("claude-code.lib.autocommands").new("terminal.used")

---@return claude-code.TerminalProvider, string name for messages
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

--- A CLI has begun once its mod is there; without a mod, once it has connected or reported its state.
local function follow_start(n)
  local one, cancel = running[n], nil
  if not one then
    return -- it has ended already
  end
  local limit = vim.uv.now() + M.MAX_START_MS
  one.starting = {}
  cancel = require("claude-code.lib.timer").every(LOOK_MS, function()
    local row = running[n] == one and sessions.get(n)
    if row and (row.connected or row.state) then
      local is_known = row.no_mod and (row.connected or row.source == "terminal")
      limit = math.min(limit, vim.uv.now() + (is_known and 0 or M.MAX_MOD_MS))
    end
    if row and not row.mod and vim.uv.now() < limit then
      return
    end
    local callbacks = one.starting
    one.starting = nil
    cancel()
    for _, callback in ipairs(callbacks) do
      callback()
    end
  end)
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

---@return claude-code.Terminal?, string? message
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
  follow_start(n)
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

function M.show(n)
  if call_terminal(n, "is_visible") == false then
    call_terminal(n, "show")
  end
end

function M.focus(n)
  M.show(n)
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

--- Calls back, in the order of the calls, once the session's CLI has begun or ended. Earlier, a question such as
--- whether the user trusts the folder would swallow a text.
---@param n? integer nil: a session that the user started
function M.when_begun(n, callback)
  local starting = n and running[n] and running[n].starting
  if starting then
    table.insert(starting, callback)
  else
    callback()
  end
end

--- Pastes text into the prompt of a session's CLI.
---@param text string without control characters
---@param submit boolean press Enter, too
---@return boolean pasted
function M.paste(n, text, submit)
  return M.is_open(n) and call_terminal(n, "send", text, submit) ~= false
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
