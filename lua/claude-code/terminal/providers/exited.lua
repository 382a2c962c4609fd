--- The end of the CLI in a terminal of Neovim's, perhaps while the user was typing there: the next
--- key of terminal mode would close the buffer, and the keys after that would go to the file below. So the
--- buffer leaves terminal mode and takes these keys, until the user pauses.
local api = vim.api

local M = {}

--- Who types on does so within this time, in ms.
local PAUSE_MS = 500

--- Calls back once no key was typed for a while.
---@param callback fun()
local function when_typing_pauses(callback)
  local namespace = api.nvim_create_namespace("claude-code.terminal.exited")
  local on_key, cancel
  on_key, cancel = require("claude-code.lib.timer").debounce(PAUSE_MS, function()
    cancel()
    vim.on_key(nil, namespace)
    callback()
  end)
  vim.on_key(on_key, namespace)
  on_key()
end

---@param code integer
---@param goes_on boolean whether it does so in the background
local function notify(code, name, goes_on)
  local messages = require("claude-code.messages.notify")
  if code == 0 then
    messages.info(name .. (goes_on and " goes on in the background" or " has ended"))
  else
    messages.warn(("%s ended with code %d; its output is in the window"):format(name, code))
  end
end

--- The CLI has ended by itself: closes the terminal after exit code 0, once the user pauses.
---@param buf integer
---@param launch claude-code.TerminalLaunch
---@param code integer
---@param is_typing boolean whether terminal mode is on there, or about to begin
---@param close fun()
function M.handle(buf, launch, code, is_typing, close)
  local name = require("claude-code.sessions.label").of(launch.n)
  local sessions = require("claude-code.sessions")
  local job = (sessions.get(launch.n) or {}).job
  launch.on_exit()
  local goes_on = job ~= nil and sessions.get({ job = job }) ~= nil
  if api.nvim_buf_is_valid(buf) then
    -- Terminal mode, in whatever way it is asked for, ends as it begins.
    api.nvim_create_autocmd("TermEnter", { buffer = buf, command = "stopinsert" })
  end
  local is_here = is_typing and api.nvim_get_current_buf() == buf
  if is_here then
    vim.cmd.stopinsert()
  end
  if code == 0 and is_here then
    when_typing_pauses(close)
  elseif code == 0 then
    close()
  end
  notify(code, name, goes_on)
end

return M
