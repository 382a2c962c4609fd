--- Sends text to a CLI: by the mod in it, or else by a paste into its terminal, which the user may have opened.
local buffer = require("claude-code.terminal.window.buffer")
local label = require("claude-code.sessions.label")
local mod = require("claude-code.sessions.mod")
local notify = require("claude-code.messages.notify")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local task = require("claude-code.lib.task")
local typing = require("claude-code.terminal.typing")

local M = {}

---@return integer[] processes of the connected CLIs
local function connected_pids()
  local pids = {}
  for _, client in ipairs(require("claude-code.server").clients) do
    pids[#pids + 1] = client.name == "claude-code" and client.pid or nil
  end
  return pids
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

--- The session that receives a text: the named or current one, or else a connected CLI that the user started.
---@param n? integer
---@return claude-code.SessionRow?
local function receiver(n)
  n = n or running.current()
  if n and running.is_open(n) then
    return sessions.get(n)
  end
  return vim
    .iter(connected_pids())
    :map(function(pid)
      local row = sessions.get({ pid = pid })
      return row and (row.buf or row.mod) and row or nil
    end)
    :next()
end

---@return boolean can a CLI receive text from this Neovim?
function M.is_there()
  return receiver() ~= nil
end

--- Does the CLI ask its user something?
local function is_asking(row)
  return row.state == "blocked"
    or row.n ~= nil
      and vim.iter(connected_pids()):any(function(pid)
        return session_of(pid) == row.n and (sessions.get({ pid = pid }) or {}).state == "blocked"
      end)
end

local ASKS = "Claude asks something in its terminal: answer it first, then send %s"

local OUTSIDE = "Claude runs outside of this Neovim, and its mod has gone: it did not receive %s"

--- Why the CLI would take a paste or its Enter for an answer to its question, or would add it to what the user writes
--- in an editor (Ctrl+G).
---@return string? why with a %s for the text
local function why_no_paste(row)
  return is_asking(row) and ASKS
    or row.edits and "Claude waits for the file that you write for it: close that first, then send %s"
    or nil
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

--- Reports which of several sessions received something. Text in a hidden terminal seems to be lost.
---@param row claude-code.SessionRow
---@param what? string
local function report_sent(row, what)
  local n, several = row.n, #running.list() > 1
  if n and M.focus_after_send(n) and not several and not what then
    return
  end
  local conversation = "claude-code://transcript/" .. (row.id or "none")
  local is_shown, command = vim.fn.bufwinid(conversation) ~= -1, nil
  if n and not is_shown and running.is_hidden(n) then
    command = several and (":Claude %d"):format(n) or ":Claude"
  elseif not n and row.buf and not require("claude-code.terminal.window").find(row.buf) then
    command = (":buffer %d"):format(row.buf)
  end
  if command or what or n and several then
    local where = command and (", whose terminal is hidden; %s shows it"):format(command) or ""
    local whom = n and label.of(n) or "Claude"
    notify.info(("%ssent to %s%s"):format(what and what .. " " or "", whom, where), "send")
  end
end

---@class claude-code.Delivery
---@field submit? boolean submit it as a prompt; else it is added to the draft
---@field n? integer the session; the current one if left out
---@field what? string for a message; without it only a hidden terminal gets one
---@field name? string of the text, in messages; by default "your text"
---@field kept? string says where a text that was not sent is kept
---@field with_selection? boolean the prompt may be about the selection, if there is one
---@field is_answered? boolean the CLI's question is answered, although its state may not say so yet

---@return claude-code.SessionRow row with its state now, if it is still known
local function latest(row)
  return sessions.get(row.n or { pid = row.pid }) or row
end

---@return boolean pasted
local function paste(row, text, options)
  local why = not row.n and not row.buf and OUTSIDE
    or not options.is_answered and why_no_paste(latest(row))
  if why then
    notify.warn((options.kept and options.kept .. "; " or "") .. why:format(options.name), "send")
    return false
  elseif row.n then
    return running.paste(row.n, text, options.submit or false)
  end
  buffer.paste(row.buf, text, options.submit or false)
  return true
end

---@return boolean added
local function add_to_draft(row, text, options)
  local is_added = paste(row, "\n" .. text, vim.tbl_extend("force", options, { submit = false }))
  if is_added then
    local words = "%s was added to what you have typed in Claude's prompt: press Enter there"
    notify.warn(words:format(options.what or options.name), "send")
  end
  return is_added
end

---@param failure claude-code.ModFailure
local function report_failure(row, failure, options)
  local words = failure.code == "dialog" and ASKS:format(options.name)
    or failure.code == "no_command" and failure.message
    or failure.code == "gone" and ("Claude may have received %s, or not: %s"):format(
      options.name,
      failure.message
    )
    or ("%s did not receive %s: %s"):format(label.name(row), options.name, failure.message)
  notify.warn((options.kept and options.kept .. "; " or "") .. words, "send")
end

--- How long a prompt waits, in ms, for the mod of a session that had one: the executable restarts.
local MAX_MOD_MS = 6000
--- The CLI (2.1.332) makes one prompt of two pastes at once.
local BETWEEN_MS = 1000

---@type table<claude-code.Terminal, boolean>
local had_mod = setmetatable({}, { __mode = "k" })

--- Prompts that the mod has submitted and that wait in the CLI, by the session's number, or else its process. Later
--- ones wait behind them.
---@type table<integer, integer>
local submitted = {}

--- Deliveries to a session, one after another.
---@type table<integer, (fun())[]> with the same keys
local queues = {}

---@param work fun() runs in a task
local function enqueue(row, work)
  local id = row.n or row.pid
  if queues[id] then
    return table.insert(queues[id], work)
  end
  queues[id] = { work }
  task.run(function()
    while queues[id][1] do
      table.remove(queues[id], 1)()
    end
  end, function(problem)
    queues[id] = nil
    if problem then
      error(problem, 0)
    end
  end)
end

--- A mod's prompt names the selected lines, since the CLI (2.1.332) does not add them.
local function with_selected_lines(text)
  local selection = require("claude-code.editor.selection").latest() or {}
  if (selection.text or "") == "" then
    return text
  end
  local name = "%s#L%d-%d"
  name = name:format(selection.path, selection.start.line + 1, selection["end"].line + 1)
  return text .. "\n\n" .. require("claude-code.lib.text").mention(name)
end

--- Another session may have the number by now.
---@param terminal? claude-code.Terminal
local function has_ended(row, terminal, text, done)
  if not row.n or running.terminal(row.n) == terminal then
    return false
  end
  notify.warn("Claude has ended and did not receive: " .. text)
  done(false)
  return true
end

--- Sends a text to a CLI that has begun. Runs in a task.
---@param terminal? claude-code.Terminal
---@param done fun(is_sent: boolean) called once, perhaps later
local function deliver(row, terminal, text, options, done)
  local slash = require("claude-code.terminal.slash")
  local key, id, is_reported = row.n or { pid = row.pid }, row.n or row.pid, false
  if has_ended(row, terminal, text, done) then
    return
  elseif options.submit and terminal and had_mod[terminal] then
    task.wait_for(function()
      return mod.has(key)
    end, MAX_MOD_MS)
  end
  row = latest(row)
  if terminal then
    had_mod[terminal] = mod.has(key)
  end
  local function report(is_sent)
    if is_sent and not is_reported then
      report_sent(row, options.what)
    end
    done(is_sent)
  end
  local function finish(failure)
    if not failure then
      report(true)
    elseif failure.code == "no_mod" then
      enqueue(row, function()
        deliver(row, terminal, text, options, done)
      end)
    elseif failure.code == "dropped" then
      enqueue(row, function()
        local is_sent ---@type boolean?
        if row.buf then
          is_sent = typing.submit(key, row, text, options)
        elseif typing.is_empty(key) then
          is_sent = paste(row, text, options)
        end
        if is_sent == nil then
          is_sent = add_to_draft(row, text, options)
        end
        report(is_sent)
      end)
    else
      report_failure(row, failure, options)
      done(false)
    end
  end
  if not mod.has(key) then
    local is_pasted = paste(row, text, options)
    report(is_pasted)
    return is_pasted and options.submit and task.sleep(BETWEEN_MS)
  elseif not options.submit then
    return finish(task.await(function(on_filled)
      mod.fill(key, text, on_filled)
    end))
  end
  local command, args = slash.parse(text)
  local asks = is_asking(row) and not options.is_answered
  local waits = asks or row.edits or submitted[id] ~= nil
  if not waits and not command and typing.can_submit(row, text) then
    local is_typed, failure = typing.submit(key, row, text, options)
    if is_typed ~= nil then
      return report(is_typed)
    elseif failure then
      return finish(failure)
    elseif has_ended(row, terminal, text, done) then
      return
    end
  end
  is_reported = waits or command ~= nil
  submitted[id] = (submitted[id] or 0) + 1
  local function on_taken(failure)
    submitted[id] = submitted[id] > 1 and submitted[id] - 1 or nil
    finish(failure)
  end
  if asks then
    local words = "%s waits in Claude's terminal until you have answered its question"
    notify.info(words:format(options.what or options.name), "send")
  elseif waits then
    report_sent(row, options.what)
  end
  if command then
    return slash.run(key, command, args, on_taken)
  end
  mod.submit(key, options.with_selection and with_selected_lines(text) or text, on_taken)
end

--- Sends a text as soon as the CLI has begun, in the order of the calls.
---@param text string control characters are removed
---@param options claude-code.Delivery
---@param done? fun(is_sent: boolean) false: a message said why. A prompt is sent once it is in the conversation
---@return boolean found false if no CLI can receive text from this Neovim
function M.send(text, options, done)
  done = done or function() end
  options = vim.tbl_extend("keep", options, { name = "your text" })
  local row, clean = receiver(options.n), buffer.clean(text)
  if not row then
    return false
  elseif not clean:find("%S") then
    notify.warn("the text to send is empty", "send")
    done(false)
    return true
  end
  local terminal = row.n and running.terminal(row.n)
  running.when_begun(row.n, function()
    enqueue(row, function()
      deliver(row, terminal, clean, options, done)
    end)
  end)
  return true
end

--- Submits the user's reason for rejecting an edit as a prompt to the CLI that proposed it.
---@param prompt { text: string, pid?: integer, connected: boolean } `connected`: the CLI still is
---@return boolean found false if no CLI can receive it
function M.submit_for_user(prompt)
  if not prompt.connected then
    notify.warn("Claude has disconnected and did not receive: " .. prompt.text)
    return false
  end
  local pid = prompt.pid
  local row = pid and sessions.get({ pid = pid })
  if not (row and (row.n or row.buf or row.mod)) then
    row = sessions.get(pid and session_of(pid) or -1)
  end
  if not row then
    notify.info("press Enter in Claude's prompt to send your reason")
    return false
  end
  local options = { submit = true, is_answered = true, name = "your reason: " .. prompt.text }
  local terminal = row.n and running.terminal(row.n)
  enqueue(row, function()
    deliver(row, terminal, buffer.clean(prompt.text), options, function() end)
  end)
  return true
end

return M
