--- The terminals of the sessions that run in this Neovim, by the session's number.
local sessions = require("claude-code.sessions")

local events = require("claude-code.lib.autocommands").new("terminal.used")

local M = {}

---@type table<integer, claude-code.Terminal>
local terminals = {}

--- Calls a terminal, which may be a user's, and reports what fails.
---@param name string of its function
---@param ... any its arguments
---@return any value false or nil if it failed
local function call(terminal, name, ...)
  local ok, value, message = pcall(terminal[name], ...)
  local notify = require("claude-code.messages.notify")
  if not ok then
    local words = "%s() of the terminal's provider failed: %s"
    notify.error(notify.refusal(value) or words:format(name, value))
    return nil
  elseif not value and message then
    notify.error(message)
  end
  return value
end

--- Files follow the disk as long as any CLI runs.
local function update_reload()
  require("claude-code.editor.documents.auto_reload").set("terminal", M.is_any_open)
end

local function remove(n)
  terminals[n] = nil
  sessions.remove(n)
end

--- It is current in its tab page from when the user goes there.
local function keep(n, terminal)
  terminals[n], terminal.n = terminal, n
  update_reload()
  if terminal.where then
    sessions.set(n, { pid = terminal.pid, where = terminal.where })
  end
  local buf = terminal.buf
  if type(buf) ~= "number" or not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  sessions.set(n, { buf = buf })
  events:on("BufEnter", function()
    sessions.use(n)
  end, { buffer = buf })
end

---@param n integer
---@param launch claude-code.TerminalLaunch
---@return boolean opened if not, a message said why
function M.open(n, launch)
  local terminal
  -- One that ends late is not the one that was started in its place.
  launch.on_exit = function()
    if terminal and terminals[n] == terminal then
      remove(n)
    end
  end
  terminal = call(require("claude-code.terminal.providers").get(), "open", launch)
  if not terminal then
    sessions.remove(n)
    return false
  end
  keep(n, terminal)
  -- On the way to its window the cursor may have passed another session.
  sessions.use(n)
  return true
end

--- Its CLI looks for the server of the Neovim that is gone.
local function ask_to_connect(n)
  local text = "%s runs on in its tmux pane; type /ide there and choose Neovim"
  require("claude-code.server").ensure({}, function()
    local row = sessions.get(n)
    if row and not row.connected then
      local name = require("claude-code.sessions.label").of(n)
      require("claude-code.messages.notify").info(text:format(name))
    end
  end)
end

--- Makes sessions of the terminals that a Neovim before this one has left.
function M.take_left()
  local provider = require("claude-code.terminal.providers").get()
  for _, left in ipairs(provider.take and call(provider, "take") or {}) do
    local n = sessions.add(left.session)
    keep(n, left.terminal)
    -- Its CLI says how it is called.
    sessions.refresh(function()
      ask_to_connect(n)
    end)
  end
end

---@param n integer
---@return boolean runs
function M.is_open(n)
  local terminal = terminals[n]
  if terminal and not call(terminal, "is_open", terminal) then
    remove(n)
  end
  return terminals[n] ~= nil
end

---@param n integer
---@return table? terminal of the session with this number; that of another session is another one
function M.terminal(n)
  return M.is_open(n) and terminals[n] or nil
end

---@return integer[] numbers of the sessions that run, in order
function M.list()
  local numbers = vim.tbl_filter(M.is_open, vim.tbl_keys(terminals))
  table.sort(numbers)
  return numbers
end

---@return boolean
function M.is_any_open()
  return #M.list() > 0
end

---@return integer? n of the current session; nil if none runs
function M.current()
  local numbers = M.list()
  local n = sessions.current()
  return terminals[n or 0] and n or numbers[1]
end

---@param n integer
---@param name string of the function
---@param ... any
---@return any value nil if the terminal does not have it, too
function M.call(n, name, ...)
  local terminal = terminals[n]
  if terminal and terminal[name] then
    return call(terminal, name, terminal, ...)
  end
end

--- Moves to its terminal, in terminal mode, also where the cursor is there already.
---@param n integer
function M.focus(n)
  M.call(n, "focus")
  sessions.use(n)
end

--- Is its window known to be out of sight?
---@param n integer
---@return boolean
function M.is_hidden(n)
  return M.call(n, "is_visible") == false
end

---@param n integer
function M.close(n)
  local terminal = terminals[n]
  if terminal then
    call(terminal, "close", terminal)
    remove(n)
    update_reload()
  end
end

--- The option `terminal.keep`.
---@param enabled boolean
function M.set_keep(enabled)
  local group = require("claude-code.lib.autocommands").new("terminal.keep")
  if enabled then
    group:on("User", M.take_left, { pattern = "ClaudeCodeServerStarted" })
  end
end

return M
