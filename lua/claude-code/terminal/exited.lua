--- The end of the CLI in a terminal of Neovim's, perhaps while the user was typing there: the next
--- key of terminal mode would close the buffer, and the keys after that would go to the file below.
local api = vim.api

local M = {}

--- Who types on does so within this time, in ms.
local PAUSE_MS = 500

--- What starts a command of normal mode. The arrows do no harm, and CTRL-C interrupts.
---@return string[]
local function command_keys()
  local keys = { "<CR>", "<Esc>", "<Tab>", "<BS>", "<Del>", "<Insert>", "<C-Bslash>" }
  for byte = 32, 126 do
    keys[#keys + 1] = ("<Char-%d>"):format(byte)
  end
  for letter in ("abdefghjklnopqrstuvwxyz]^_"):gmatch(".") do
    keys[#keys + 1] = ("<C-%s>"):format(letter)
  end
  return keys
end

--- Blocks the keys of a buffer until the user pauses. By mappings, since a callback of vim.on_key
--- cannot discard a key: TODO(0.10).
---@param buf integer
---@param callback fun()
local function block_keys(buf, callback)
  local keys = command_keys()
  local on_key, cancel
  on_key, cancel = require("claude-code.lib.timer").debounce(PAUSE_MS, function()
    cancel()
    for _, key in ipairs(api.nvim_buf_is_loaded(buf) and keys or {}) do
      pcall(api.nvim_buf_del_keymap, buf, "", key)
    end
    callback()
  end)
  local options =
    { nowait = true, noremap = true, callback = on_key, desc = "Blocked: Claude ended" }
  for _, key in ipairs(keys) do
    api.nvim_buf_set_keymap(buf, "", key, "", options)
  end
  on_key()
end

--- Terminal mode, in whatever way it is asked for, ends as it begins.
---@param buf integer
local function prevent_terminal_mode(buf)
  api.nvim_create_autocmd("TermEnter", {
    buffer = buf,
    callback = function()
      vim.cmd.stopinsert()
    end,
  })
end

---@param code integer
---@param name string
---@param goes_on boolean whether it does so in the background
local function notify(code, name, goes_on)
  local messages = require("claude-code.messages.notify")
  local is_last = #require("claude-code.terminal.label").own() == 0
  if code == 0 and goes_on then
    messages.info(name .. " goes on in the background; :ClaudeCodeSessions shows it")
  elseif code == 0 then
    messages.info(name .. " has ended" .. (is_last and "; :ClaudeCode starts it again" or ""))
  else
    local text = "%s ended with code %d; its output is in the window."
      .. (is_last and " :ClaudeCode restarts it" or "")
    messages.warn(text:format(name, code))
  end
end

--- The CLI has ended by itself: closes the terminal after exit code 0, once the user pauses.
---@param buf integer
---@param launch claude-code.Launch
---@param code integer
---@param is_typing boolean whether terminal mode is on there, or about to begin
---@param close fun()
function M.handle(buf, launch, code, is_typing, close)
  local name = require("claude-code.terminal.label").of(launch.n)
  local sessions = require("claude-code.sessions")
  local job = (sessions.get(launch.n) or {}).job
  launch.on_exit()
  local goes_on = job ~= nil and sessions.get({ job = job }) ~= nil
  local function close_if_ended_well()
    if code == 0 then
      close()
    end
  end
  if api.nvim_buf_is_valid(buf) then
    prevent_terminal_mode(buf)
  end
  if is_typing and api.nvim_get_current_buf() == buf then
    vim.cmd.stopinsert()
    block_keys(buf, close_if_ended_well)
  else
    close_if_ended_well()
  end
  notify(code, name, goes_on)
end

return M
