--- The terminals of the sessions that run in this Neovim, by the session's number.
local sessions = require("claude-code.sessions")

local events = require("claude-code.lib.autocommands").new("terminal.used")

local M = {
  --- Longer than a CLI tries to find its Neovim again, which is 17 s (measured with 2.1.330).
  RETRY_MS = 20000,
}

---@type table<integer, claude-code.Terminal>
local terminals = {}

--- Calls a terminal, which may be a user's, and reports what fails.
---@param terminal claude-code.Terminal|claude-code.Provider
---@param name string of its function
---@param ... any its arguments
---@return any value false or nil if it failed
local function call(terminal, name, ...)
  local ok, value, message = pcall(terminal[name], ...)
  local notify = require("claude-code.messages.notify")
  if not ok then
    notify.error(("%s() of the terminal's provider failed: %s"):format(name, value))
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

---@param n integer
local function remove(n)
  terminals[n] = nil
  sessions.remove(n)
end

--- It is current in its tab page from when the user goes there.
---@param n integer
---@param terminal claude-code.Terminal
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

--- Starts the server that their CLIs look for, and reports those that do not find it: once they have
--- given up, or at once if they look elsewhere.
---@param adopted claude-code.AdoptedTerminal[]
local function connect(adopted)
  local server = require("claude-code.server")
  local text = "%s runs on in its tmux pane, without a connection to this Neovim; "
    .. "type /ide there and choose Neovim"
  server.ensure({}, function()
    local looks_here = vim.iter(adopted):any(function(found)
      return found.port == server.port
    end)
    require("claude-code.lib.timer").once(looks_here and M.RETRY_MS or 0, function()
      for _, found in ipairs(adopted) do
        local row = sessions.get(found.terminal.n)
        if row and not row.connected then
          local name = require("claude-code.sessions.label").of(row.n)
          require("claude-code.messages.notify").info(text:format(name))
          -- A CLI that has given up takes the port of before for one that it is connected to, and /ide then
          -- fails there (measured with 2.1.330). Of several calls the first one does something.
          if looks_here then
            server.change_port()
          end
        end
      end
    end)
  end)
end

--- Makes sessions of the terminals that run already though nobody opened them here.
function M.adopt()
  local provider = require("claude-code.terminal.providers").get()
  local adopted = provider.adopt and call(provider, "adopt") or {}
  for _, found in ipairs(adopted) do
    keep(sessions.add(found.session), found.terminal)
  end
  local left = vim.tbl_filter(function(found)
    return found.terminal.where ~= nil
  end, adopted)
  if #left > 0 then
    connect(left)
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
  if next(terminals) == nil then
    M.adopt()
  end
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

---@param n integer
---@param name string of a function
---@return boolean does the session's terminal have it?
function M.can(n, name)
  return terminals[n] ~= nil and terminals[n][name] ~= nil
end

--- Moves to its terminal, and from there back.
---@param n integer
function M.focus(n)
  M.call(n, "focus")
  sessions.use(n)
end

--- Moves to its terminal, in terminal mode, also where the cursor is there already.
---@param n integer
function M.show(n)
  local row = sessions.get(n)
  if row and row.buf ~= vim.api.nvim_get_current_buf() then
    M.focus(n)
  elseif row then
    M.call(n, "show")
  end
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

--- The option `terminal.keep`: the server's start adopts the sessions that another Neovim has left. It stays:
--- who works in tmux expects a pane to outlive the editor beside it.
---@param enabled boolean
function M.set_keep(enabled)
  local group = require("claude-code.lib.autocommands").new("terminal.keep")
  if enabled then
    group:on("User", function()
      M.adopt()
      require("claude-code.terminal.providers.tmux").tag_all()
    end, { pattern = "ClaudeCodeServerStarted" })
  end
end

return M
