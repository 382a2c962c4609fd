--- The prompt of a CLI that runs in a terminal of this Neovim, whoever opened that terminal.
local clients = require("claude-code.terminal.clients")
local running = require("claude-code.terminal.running")

local M = {}

--- Does the CLI that receives what is pasted ask its user something?
---@param n? integer the session; the current one if left out
local function is_asking(n)
  n = n or running.current()
  local row, pids = n and require("claude-code.sessions").get(n) or {}, clients.pids()
  -- Its terminal reports a state before its own file does.
  if row.source == "terminal" and row.state == "blocked" then
    return true
  end
  table.insert(pids, row.pid)
  return vim.iter(pids):any(function(pid)
    local is_its = pid == row.pid
      or n and clients.session(pid) == n
      or not n and clients.terminal({ pid })
    return is_its and require("claude-code.sessions.cli_files").is_asking(pid)
  end)
end

--- Enter comes at once, as in `terminal.send`: between the two the CLI could begin to ask something. It takes
--- them apart, also after 5,000 lines (measured with Claude Code 2.1.330).
---@param buf integer of a terminal that is no session's
local function paste_into(buf, text, submit)
  require("claude-code.terminal.providers.buffer").paste(vim.bo[buf].channel, text, submit)
end

--- Pasted out of sight, it would seem to be lost.
---@param command? string that shows the terminal, which is hidden
local function notify_sent(what, whom, command)
  local where = command and (", whose terminal is hidden; %s shows it"):format(command) or ""
  local text = ("%ssent to %s%s"):format(what and what .. " " or "", whom, where)
  require("claude-code.messages.notify").info(text, "send")
end

--- Moves to the terminal if the option send.focus says so.
---@param n? integer the session; the current one if left out
---@return boolean moved
function M.focus_after_send(n)
  n = n or running.current()
  local wanted = n ~= nil and require("claude-code.config").get().send.focus
  if wanted and vim.bo.buftype ~= "terminal" then
    running.focus(n)
  end
  return wanted
end

--- Reports which session received something, where there are several, and that it is out of sight.
local function report_sent(n, what)
  local label, several = require("claude-code.sessions.label").of(n), #running.list() > 1
  if M.focus_after_send(n) and not several and not what then
    return
  elseif running.is_hidden(n) then
    notify_sent(what, label, several and (":Claude %d"):format(n) or ":Claude")
  elseif several or what then
    notify_sent(what, label)
  end
end

--- Pastes text into the prompt of a session.
---@param text string
---@param submit boolean whether the prompt is submitted
---@param n? integer the session; the current one if left out
---@param what? string for a message that it is sent; else that is only said where it cannot be seen
---@return boolean pasted false if no CLI runs in a terminal of this Neovim
function M.paste(text, submit, n, what)
  local function refuse()
    return M.refuse_while_asking("your text", n)
  end
  local options = { submit = submit, n = n, refuse = refuse }
  n = require("claude-code.terminal").send(text, options)
  if n then
    report_sent(n, what)
    return true
  end
  local buf = clients.terminal(clients.pids())
  if not buf then
    return false
  end
  paste_into(buf, text, submit)
  if not require("claude-code.terminal.providers.window").find(buf) then
    notify_sent(what, "Claude", (":buffer %d"):format(buf))
  elseif what then
    notify_sent(what, "Claude")
  end
  return true
end

---@return boolean does a CLI run in a terminal of this Neovim?
function M.is_there()
  return running.is_any_open() or clients.terminal(clients.pids()) ~= nil
end

--- Does the CLI show its detailed conversation (Ctrl+O)? It drops what is pasted then (2.1.330).
---@param row { buf?: integer }
local function shows_conversation(row)
  local is_there = row.buf and vim.api.nvim_buf_is_valid(row.buf)
  local lines = is_there and vim.api.nvim_buf_get_lines(row.buf, -4, -1, false) or {}
  return table.concat(lines):find("Showing detailed transcript", 1, true) ~= nil
end

--- Refuses to paste while the CLI would take the text, or Enter, for the answer to something that it asks its user,
--- would drop it, or make it a part of what the user writes in its own window (Ctrl+G).
---@param what string that is not sent, for the message
---@param n? integer the session; the current one if left out
---@param kept? string that it is kept
---@return boolean refused
function M.refuse_while_asking(what, n, kept)
  local row = require("claude-code.sessions").get(n or running.current() or 0) or {}
  local why = is_asking(n)
      and "Claude asks something in its terminal: answer it first, then send %s"
    or shows_conversation(row) and "Claude's terminal shows the conversation: press Ctrl+O there, then send %s"
    or row.edits
      and "Claude waits for what you write in its own window: close that first, then send %s"
  if not why then
    return false
  end
  local text = (kept and kept .. "; " or "") .. why:format(what)
  require("claude-code.messages.notify").warn(text, "send")
  return true
end

--- Submits what the user said of an edit as their prompt to the CLI that proposed it, and to no other.
---@param prompt { text: string, pid?: integer, connected: boolean } of the CLI: its process, and is it still connected?
---@return boolean submitted false if the CLI runs in no terminal of this Neovim
function M.submit_for_user(prompt)
  local notify = require("claude-code.messages.notify")
  if not prompt.connected then
    notify.warn("Claude is gone and did not receive: " .. prompt.text)
    return false
  end
  local buf = prompt.pid and clients.terminal({ prompt.pid })
  if buf then
    paste_into(buf, prompt.text, true)
    return true
  end
  local n = prompt.pid and clients.session(prompt.pid)
  if n and require("claude-code.terminal").send(prompt.text, { submit = true, n = n }) then
    return true
  end
  notify.info("press Enter in Claude's prompt to send your reason")
  return false
end

return M
