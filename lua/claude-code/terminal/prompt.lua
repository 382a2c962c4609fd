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

---@return integer[] process ids of the connected CLIs
local function client_pids()
  local pids = {}
  for _, client in ipairs(require("claude-code.server").clients) do
    pids[#pids + 1] = client.name == "claude-code" and client.pid or nil
  end
  return pids
end

--- A terminal in which one of these CLIs runs.
---@param pids integer[]
---@return integer? buf
local function terminal_of(pids)
  return vim.iter(api.nvim_list_bufs()):find(function(buf)
    local job = vim.b[buf].terminal_job_pid
    return job and vim.iter(pids):any(function(pid)
      return is_descendant(pid, job)
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
  local buf = terminal_of(client_pids())
  if not buf then
    return false
  end
  paste_into(vim.bo[buf].channel, text, submit)
  if not require("claude-code.terminal.window").find(buf) then
    notify_hidden((":buffer %d"):format(buf))
  end
  return true
end

--- Does the provider's terminal run this CLI? Of a pane of tmux only that it is the only one is known.
---@param pid integer
---@return boolean
local function is_in_provider(pid)
  local pids = client_pids()
  return #pids == 1 and pids[1] == pid and require("claude-code.terminal").is_open()
end

--- Does a CLI in a terminal of this Neovim ask its user something? Enter would be the answer then.
---@return boolean
function M.is_asking()
  return vim.iter(client_pids()):any(function(pid)
    return require("claude-code.claude.state").is_asking(pid)
      and (terminal_of({ pid }) ~= nil or is_in_provider(pid))
  end)
end

---@class claude-code.UserPrompt
---@field text string
---@field pid? integer process of the CLI that it is for
---@field connected boolean is that CLI still connected?

--- Submits what the user said of an edit as their prompt to the CLI that proposed it, and to no other.
---@param prompt claude-code.UserPrompt
---@return boolean submitted false if the CLI runs in no terminal of this Neovim
function M.submit_for_user(prompt)
  local notify = require("claude-code.messages.notify")
  if not prompt.connected then
    notify.warn("Claude is gone and did not receive: " .. prompt.text)
    return false
  end
  local buf = prompt.pid and terminal_of({ prompt.pid })
  if buf then
    paste_into(vim.bo[buf].channel, prompt.text, true)
    return true
  elseif prompt.pid and is_in_provider(prompt.pid) then
    return require("claude-code.terminal").send(prompt.text, { submit = true })
  end
  notify.info("Claude runs outside of this Neovim: press Enter in its prompt to send your reason")
  return false
end

return M
