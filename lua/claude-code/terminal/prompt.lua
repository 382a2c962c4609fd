--- Sends text to a CLI: by the mod in it, or else by a paste into its terminal, which the user may have opened.
local buffer = require("claude-code.terminal.window.buffer")
local label = require("claude-code.sessions.label")
local mod = require("claude-code.sessions.mod")
local notify = require("claude-code.messages.notify")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local timer = require("claude-code.lib.timer")

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
  local command
  if n and running.is_hidden(n) then
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
  local why = not options.is_answered and why_no_paste(latest(row))
  if why then
    notify.warn((options.kept and options.kept .. "; " or "") .. why:format(options.name), "send")
    return false
  elseif row.n then
    return running.paste(row.n, text, options.submit or false)
  end
  buffer.paste(row.buf, text, options.submit or false)
  return true
end

--- Does the text mention a file, an agent or a resource? The CLI (2.1.332) expands no mention in the prompt of a mod.
local function has_mention(row, text)
  local padded = " " .. text
  for _, pattern in ipairs({ '%s@"([^"]+)"', '%s@([^%s"]+)' }) do
    for word in padded:gmatch(pattern) do
      local name = word:gsub("#L%d+%-?%d*$", ""):gsub("[.,;:!?)]+$", "")
      local path = vim.startswith(name, "/") and name or vim.fs.joinpath(row.cwd or "", name)
      if row.remote or name:find("^agent%-") or name:find(":") or vim.uv.fs_stat(path) then
        return true
      end
    end
  end
  return false
end

--- Pastes a prompt unless the user has typed something, which Enter would submit, too.
---@param done fun(is_sent: boolean)
---@param on_draft fun() called instead
local function paste_without_draft(key, row, text, options, done, on_draft)
  mod.draft(key, function(_, draft)
    if draft and draft.text:find("%S") then
      return on_draft()
    end
    done(paste(row, text, options))
  end)
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
    or failure.code == "gone" and ("Claude may have received %s, or not: %s"):format(
      options.name,
      failure.message
    )
    or ("%s did not receive %s: %s"):format(label.name(row), options.name, failure.message)
  notify.warn((options.kept and options.kept .. "; " or "") .. words, "send")
end

--- The CLI (2.1.332) calls such a text pasted from somewhere else, which the model distrusts.
local MIN_FOREIGN_BYTES, MIN_FOREIGN_LINE_ENDS = 800, 3

local function would_be_foreign(text)
  return #text >= MIN_FOREIGN_BYTES or select(2, text:gsub("\n", "")) >= MIN_FOREIGN_LINE_ENDS
end

--- How long a prompt waits, in ms, for the mod of a session that had one: the executable restarts.
local MOD_MS, LOOK_MS = 6000, 100
---@type table<claude-code.Terminal, true>
local had_mod = setmetatable({}, { __mode = "k" })

--- Calls back once the session's mod is back, or has not come back in time.
local function wait_for_mod(n, terminal, callback)
  local limit, cancel = vim.uv.now() + MOD_MS, nil
  cancel = timer.every(LOOK_MS, function()
    if mod.has(n) or vim.uv.now() > limit then
      cancel()
      had_mod[terminal] = nil
      callback()
    end
  end)
end

--- Prompts that a session's mod submits, and pastes that wait for them: the CLI would take a paste first.
---@type table<integer, { count: integer, pastes: fun()[] }> by the session's number, else by process
local submitting = {}

--- Sends a text to a CLI that has begun.
---@param done fun(is_sent: boolean)
local function deliver(row, text, options, done)
  local slash = require("claude-code.terminal.slash")
  local command, args = slash.parse(text)
  local key, id, is_waiting = row.n or { pid = row.pid }, row.n or row.pid, false
  row = latest(row)
  local function report(is_sent)
    if is_sent and not is_waiting then
      report_sent(row, options.what)
    end
    done(is_sent)
  end
  local function finish(failure)
    if not failure and command then
      done(true)
    elseif not failure then
      report(true)
    elseif failure.code ~= "no_mod" and failure.code ~= "dropped" then
      report_failure(row, failure, options)
      done(false)
    elseif options.submit and mod.has(key) then
      paste_without_draft(key, row, text, options, report, function()
        report(add_to_draft(row, text, options))
      end)
    else
      report(paste(row, text, options))
    end
  end
  local function submit()
    local all = submitting[id] or { count = 0, pastes = {} }
    submitting[id], all.count = all, all.count + 1
    mod.submit(key, text, function(failure)
      all.count = all.count - 1
      finish(failure)
      if all.count == 0 then
        submitting[id] = nil
        vim.iter(all.pastes):each(pcall)
      end
    end)
  end
  -- A mod submits no text that begins with a slash, such as a path.
  local is_path = not command and text:find("^%s*/")
  -- The CLI (2.1.332) adds the selection to no prompt of a mod.
  local has_selection = options.with_selection
    and ((require("claude-code.editor.selection").latest() or {}).text or "") ~= ""
  local is_for_paste = options.submit and (is_path or has_selection or has_mention(row, text))
  local terminal = row.n and running.terminal(row.n)
  if terminal and mod.has(key) then
    had_mod[terminal] = true
  elseif terminal and had_mod[terminal] and options.submit then
    return wait_for_mod(row.n, terminal, function()
      deliver(row, text, options, done)
    end)
  end
  if is_for_paste and submitting[id] then
    return table.insert(submitting[id].pastes, function()
      deliver(row, text, options, done)
    end)
  elseif is_for_paste or not mod.has(key) then
    return finish({ code = "no_mod" })
  elseif not options.submit then
    return mod.fill(key, text, finish)
  end
  -- The CLI keeps a prompt until the turn or the question is over.
  if is_asking(row) and not options.is_answered then
    is_waiting = true
    local words = "%s waits in Claude's terminal until you have answered its question"
    notify.info(words:format(options.what or options.name), "send")
  elseif label.is_busy(row) then
    is_waiting = true
    report_sent(row, options.what)
  end
  if command then
    slash.run(key, command, args, finish)
  elseif is_waiting or submitting[id] or would_be_foreign(text) then
    submit()
  else
    -- The CLI (2.1.332) adds no rules of plan mode and no selection to a mod's prompt, so an idle one gets a paste.
    paste_without_draft(key, row, text, options, report, submit)
  end
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
  end
  local terminal = row.n and running.terminal(row.n)
  running.when_begun(row.n, function()
    if row.n and running.terminal(row.n) ~= terminal then
      notify.warn("Claude has ended and did not receive: " .. clean)
      return done(false)
    end
    deliver(row, clean, options, done)
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
  deliver(row, buffer.clean(prompt.text), options, function() end)
  return true
end

return M
