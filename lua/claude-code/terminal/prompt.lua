--- The prompt of a CLI that runs in a terminal of this Neovim, whoever opened that terminal.
local api = vim.api

local M = {}

--- The CLI takes an Enter that follows pasted text at once for a part of it.
local SUBMIT_MS = 150

---@param pid integer
---@param ancestor integer
---@return boolean
local function is_descendant(pid, ancestor)
  for _ = 1, 20 do
    if pid == ancestor then
      return true
    end
    local process = api.nvim_get_proc(pid)
    if type(process) ~= "table" or process.ppid <= 1 then
      return false
    end
    pid = process.ppid
  end
  return false
end

--- A terminal in which a connected CLI runs.
---@return integer? buf
local function terminal_of_client()
  return vim.iter(api.nvim_list_bufs()):find(function(buf)
    local job = vim.b[buf].terminal_job_pid
    return job
      and vim.iter(require("claude-code.server").clients):any(function(client)
        return client.name == "claude-code" and client.pid ~= nil and is_descendant(client.pid, job)
      end)
  end)
end

---@param channel integer
---@param text string
---@param submit boolean
local function paste_into(channel, text, submit)
  api.nvim_chan_send(channel, require("claude-code.terminal.paste").bracketed(text))
  if submit then
    vim.defer_fn(function()
      pcall(api.nvim_chan_send, channel, "\r")
    end, SUBMIT_MS)
  end
end

--- What is pasted out of sight would seem to be lost.
---@param command string that shows the terminal
local function notify_hidden(command)
  local text = "sent to Claude, whose terminal is hidden; %s shows it"
  require("claude-code.messages.notify").info(text:format(command))
end

--- Moves to the terminal if the option send.focus says so.
---@return boolean moved
function M.focus_after_send()
  local terminal = require("claude-code.terminal")
  local wanted = require("claude-code.config").get().send.focus and terminal.is_open()
  -- From the terminal, focus() would move back.
  if wanted and vim.bo.buftype ~= "terminal" then
    terminal.focus()
  end
  return wanted
end

--- Pastes text into the prompt.
---@param text string
---@param submit boolean whether the prompt is submitted
---@return boolean pasted false if no CLI runs in a terminal of this Neovim
function M.paste(text, submit)
  local terminal = require("claude-code.terminal")
  if terminal.send(text, { submit = submit }) then
    if not M.focus_after_send() and terminal.is_hidden() then
      notify_hidden(":ClaudeCode")
    end
    return true
  end
  local buf = terminal_of_client()
  if not buf then
    return false
  end
  paste_into(vim.bo[buf].channel, text, submit)
  if not require("claude-code.terminal.window").find(buf) then
    notify_hidden((":buffer %d"):format(buf))
  end
  return true
end

return M
