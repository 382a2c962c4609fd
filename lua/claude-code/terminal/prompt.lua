--- Pastes text into the prompts of CLIs that run in terminals of this Neovim, including terminals that the user opened.
local label = require("claude-code.sessions.label")
local notify = require("claude-code.messages.notify")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")

local M = {}

---@return integer[] processes of the connected CLIs
local function connected_pids()
  local pids = {}
  for _, client in ipairs(require("claude-code.server").clients) do
    pids[#pids + 1] = client.name == "claude-code" and client.pid or nil
  end
  return pids
end

---@return integer? buf terminal of the first of these CLIs that has one
local function terminal_of(pids)
  for _, pid in ipairs(pids) do
    local row = sessions.get({ pid = pid })
    if row and row.buf then
      return row.buf
    end
  end
end

--- A provider may not know the process of its terminal: then the only CLI runs in the only terminal.
---@return integer? n session of this CLI
local function session_of(pid)
  local row, rows, pids = sessions.get({ pid = pid }) or {}, label.own(), connected_pids()
  local is_only = #rows == 1 and #pids == 1 and pids[1] == pid and not row.buf
  return row.n or is_only and rows[1].n or nil
end

---@param pid integer of a connected CLI
---@return string? name of its session, for messages; nil unless several run in this Neovim
function M.label(pid)
  local n = #label.own() > 1 and session_of(pid)
  return n and label.of(n) or nil
end

---@param id integer|string the client's
---@return integer? n number of its session; nil unless several run in this Neovim
function M.session_of_client(id)
  local client = vim.iter(require("claude-code.server").clients):find(function(client)
    return client.id == id
  end)
  return #label.own() > 1 and client and client.pid and session_of(client.pid) or nil
end

---@return integer? pid of the current session's connected CLI; nil unless several sessions run in this Neovim
function M.current_pid()
  local n = #label.own() > 1 and sessions.current()
  return n and vim.iter(connected_pids()):find(function(pid)
    return session_of(pid) == n
  end) or nil
end

--- Does the CLI that would receive a text ask its user something?
---@param n? integer nil if no session runs
local function is_asking(n)
  if n and (sessions.get(n) or {}).state == "blocked" then
    return true
  end
  return vim.iter(connected_pids()):any(function(pid)
    local is_its = n and session_of(pid) == n or not n and terminal_of({ pid })
    return is_its and (sessions.get({ pid = pid }) or {}).state == "blocked"
  end)
end

local function paste_into(buf, text, submit)
  local buffer = require("claude-code.terminal.window.buffer")
  buffer.paste(buf, buffer.clean(text), submit)
end

--- Text in a hidden terminal seems to be lost.
---@param command? string shows a hidden terminal
local function notify_sent(what, whom, command)
  local where = command and (", whose terminal is hidden; %s shows it"):format(command) or ""
  notify.info(("%ssent to %s%s"):format(what and what .. " " or "", whom, where), "send")
end

--- The option send.focus: moves to the terminal.
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

--- Reports which of several sessions received something, and whether it is hidden.
local function report_sent(n, what)
  local name, several = label.of(n), #running.list() > 1
  if M.focus_after_send(n) and not several and not what then
    return
  elseif running.is_hidden(n) then
    notify_sent(what, name, several and (":Claude %d"):format(n) or ":Claude")
  elseif several or what then
    notify_sent(what, name)
  end
end

--- Pastes text into the prompt of a session.
---@param submit boolean whether the prompt is submitted
---@param n? integer the session; the current one if left out
---@param what? string for a message; without it only a hidden terminal gets one
---@return boolean pasted false if no CLI runs in a terminal of this Neovim
function M.paste(text, submit, n, what)
  local receiver = running.send(text, {
    submit = submit,
    n = n,
    refuse = function()
      return M.refuse_while_asking("your text", n)
    end,
  })
  if receiver then
    report_sent(receiver, what)
    return true
  end
  local buf = terminal_of(connected_pids())
  if not buf then
    return false
  end
  paste_into(buf, text, submit)
  local is_shown = require("claude-code.terminal.window").find(buf) ~= nil
  if what or not is_shown then
    notify_sent(what, "Claude", not is_shown and (":buffer %d"):format(buf) or nil)
  end
  return true
end

---@return boolean does a CLI run in a terminal of this Neovim?
function M.is_there()
  return running.is_any_open() or terminal_of(connected_pids()) ~= nil
end

--- Does the CLI (2.1.330) show its detailed conversation (Ctrl+O)? It then drops what is pasted.
local function shows_conversation(row)
  local is_there = row.buf and vim.api.nvim_buf_is_valid(row.buf)
  local lines = is_there and vim.api.nvim_buf_get_lines(row.buf, -4, -1, false) or {}
  return table.concat(lines):find("Showing detailed transcript", 1, true) ~= nil
end

--- Refuses to paste while the CLI would take the text or the Enter for an answer to its question, would drop it, or
--- would add it to what the user writes in an editor (Ctrl+G).
---@param what string names the text in the message
---@param n? integer the session; the current one if left out
---@param kept? string says where the text is kept
---@return boolean refused
function M.refuse_while_asking(what, n, kept)
  n = n or running.current()
  local row = sessions.get(n or 0) or {}
  local why = is_asking(n)
      and "Claude asks something in its terminal: answer it first, then send %s"
    or shows_conversation(row) and "Claude's terminal shows the conversation: press Ctrl+O there, then send %s"
    or row.edits
      and "Claude waits for the file that you write for it: close that first, then send %s"
  if why then
    notify.warn((kept and kept .. "; " or "") .. why:format(what), "send")
  end
  return why ~= nil
end

--- Submits the user's reason for rejecting an edit as a prompt to the CLI that proposed it.
---@param prompt { text: string, pid?: integer, connected: boolean } `connected`: the CLI still is
---@return boolean submitted false if the CLI runs in no terminal of this Neovim
function M.submit_for_user(prompt)
  if not prompt.connected then
    notify.warn("Claude has disconnected and did not receive: " .. prompt.text)
    return false
  end
  local buf = prompt.pid and terminal_of({ prompt.pid })
  if buf then
    paste_into(buf, prompt.text, true)
    return true
  end
  local n = prompt.pid and session_of(prompt.pid)
  if n and running.send(prompt.text, { submit = true, n = n }) then
    return true
  end
  notify.info("press Enter in Claude's prompt to send your reason")
  return false
end

return M
