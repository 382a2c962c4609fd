--- Commands on sessions: start, show, hide, end, list and find them. The default session is the current one.
local label = require("claude-code.sessions.label")
local notify = require("claude-code.messages.notify")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local start = require("claude-code.terminal.start")

local M = {}

--- The current session. A tab page with its own folder (|:tcd|) accepts only a session that was shown there, or that
--- runs in this folder.
local function session_of_tab()
  local n = running.current()
  local is_any = not n or vim.fn.haslocaldir(-1, 0) == 0 or vim.t.claude_code_session == n
  return (is_any or sessions.get(n).cwd == start.folder()) and n or nil
end

--- Descriptions of `where` for sessions without a number.
local PLACES = {
  here = "another terminal of this Neovim",
  outside = "another terminal",
  neovim = "another Neovim",
  background = "the background",
}

--- Shows a session of this Neovim, attaches to a background session, or reports where any other session runs. Resuming
--- a running session would let two Claudes write to one file.
function M.go_to(row)
  if row.n then
    running.focus(row.n)
  elseif row.job then
    local folder = vim.fn.isdirectory(row.cwd or "") == 1 and row.cwd or nil
    start.run({ "attach", row.job }, nil, folder)
  elseif row.buf and vim.api.nvim_buf_is_valid(row.buf) then
    vim.cmd.sbuffer(row.buf)
  else
    local process = row.pid and (" (process %d)"):format(row.pid) or ""
    notify.info(("%s runs in %s%s"):format(label.name(row), PLACES[row.where], process))
  end
end

--- Resumes a past conversation, or shows its session if another Claude has resumed it in the meantime.
local function resume(past)
  local row = sessions.get({ id = past.id })
  if row then
    M.go_to(row)
  elseif vim.fn.isdirectory(past.cwd) == 0 then
    local words = "Claude can resume this conversation only in %s, which no longer exists"
    notify.warn(words:format(past.cwd))
  else
    start.run({ "--resume", past.id }, nil, past.cwd)
  end
end

--- Finds the running session that these arguments of the CLI resume or attach to.
---@param callback fun(row?: claude-code.SessionRow) called at once if they name no session
local function find_running(arguments, callback)
  local session = start.session_of(arguments)
  if session.is_new or not (session.id or session.job) then
    return callback(nil)
  end
  sessions.refresh(function()
    callback(vim.iter(sessions.list()):find(function(row)
      if row.job and session.job then
        -- The CLI accepts a part of the name, too.
        return row.job == session.job or (row.name or ""):find(session.job, 1, true)
      end
      return row.id and row.id == session.id
    end))
  end)
end

---@return boolean may a command name this session? `1Claude` may start the first one.
function M.has(n)
  return running.is_open(n) or n == 1 and not running.is_any_open()
end

--- Starts another session, or shows the running session that the arguments name.
function M.new(arguments)
  find_running(arguments, function(row)
    if row then
      M.go_to(row)
    else
      start.run(arguments)
    end
  end)
end

--- Starts the CLI, or shows its terminal and moves there.
---@param arguments? string[] for the CLI
---@param options? { restart?: boolean, n?: integer } `restart` ends a running CLI first
function M.open(arguments, options)
  options, arguments = options or {}, arguments or {}
  if start.is_waiting() then
    start.notify_if_downloading()
    return
  end
  if not running.is_any_open() then
    running.adopt()
  end
  find_running(arguments, function(row)
    local n = options.n or session_of_tab()
    if row and not (options.restart and row.n == n) then
      return M.go_to(row)
    elseif n and not options.restart then
      running.focus(n)
      if #arguments > 0 then
        notify.warn("Claude is already running; :Claude! restarts it, :Claude new starts another")
      end
      return
    elseif n then
      running.close(n)
    end
    start.run(arguments, n)
  end)
end

--- Starts the CLI, or hides or shows its terminal.
---@param arguments string[] for the CLI, at its start
---@param options { restart?: boolean, n?: integer } as for `open`
function M.toggle(arguments, options)
  local n = options.n or session_of_tab()
  if not n or options.restart or #arguments > 0 then
    M.open(arguments, options)
  else
    running.toggle(n)
  end
end

--- Ends the current session, or cancels a start.
---@param force? boolean end it even if it works or asks something
---@return boolean found false if no CLI ran or was about to start
function M.close(force)
  local was_waiting = start.cancel()
  local n = not was_waiting and running.current()
  if not n then
    return was_waiting
  end
  local row = sessions.get(n) or {}
  local name, several = label.of(n), #running.list() > 1
  -- A background session continues without its terminal.
  if label.is_busy(row) and row.where ~= "background" and not force then
    notify.warn(label.sentence(row) .. "; :Claude close! ends it anyway")
    return true
  end
  running.close(n)
  if several then
    notify.info(name .. " was ended")
  end
  return true
end

--- Cancels pending starts, and ends all sessions but those that outlive Neovim.
function M.close_all()
  start.cancel()
  for _, n in ipairs(running.list()) do
    if not running.terminal(n).outlives then
      running.close(n)
    end
  end
end

local function place(row, current)
  local parts = {}
  if row.n then
    parts[1] = row.worktree and row.worktree ~= row.name and "worktree " .. row.worktree or nil
    parts[#parts + 1] = row.job and "background" or nil
    parts[#parts + 1] = require("claude-code.sessions.transcripts").fullness(row)
    parts[#parts + 1] = label.tasks(row)
    parts[#parts + 1] = label.cost({ row })
    parts[#parts + 1] = row.n == current and "current" or nil
  else
    parts[1] = row.where == "background" and row.where or PLACES[row.where]
  end
  return #parts > 0 and (" (%s)"):format(table.concat(parts, ", ")) or ""
end

--- "2 ● docs: Reading api.md, 3 min (current)"
local function line(row, current)
  return ("%s %s %s: %s, %s%s"):format(
    row.n or " ",
    label.state(row.state).symbol,
    label.unnumbered(row),
    label.activity(row),
    label.age(row.since),
    place(row, current)
  )
end

--- "↺ rename the parser: 5.2 MB, 3 h, topic (past)"
local function past_line(past)
  local parts = { ("%.1f MB"):format(past.bytes / 1024 / 1024), label.age(past.at), past.branch }
  return ("  ↺ %s: %s (past)"):format(past.title, table.concat(parts, ", "))
end

---@return claude-code.SessionRow[] sessions of this Neovim, by number
function M.own()
  return vim.tbl_filter(function(row)
    return not running.has_ended(row.n)
  end, label.own())
end

---@class claude-code.Conversation
---@field id string
---@field title string one line
---@field cwd string absolute; Claude resumes the conversation only there
---@field branch? string
---@field bytes integer
---@field at number ms since 1970, of its last entry

--- Lets the user choose from all sessions and past conversations.
---@param callback fun(row: claude-code.SessionRow|claude-code.Conversation)
function M.choose_any(prompt, callback)
  sessions.refresh(function()
    require("claude-code.server.channel").request("sessions/past", {}, function(past, problem)
      if problem then
        notify.info("the list shows only sessions of this Neovim: " .. problem, "sessions")
      end
      local rows = M.own()
      for _, row in ipairs(sessions.list()) do
        rows[#rows + 1] = not row.n and row or nil
      end
      for _, conversation in ipairs(past or {}) do
        rows[#rows + 1] = not sessions.get({ id = conversation.id }) and conversation or nil
      end
      if #rows == 0 then
        return notify.info("no Claude session runs; :Claude starts one")
      end
      local current = running.current()
      require("claude-code.lib.choose")(prompt, rows, function(row)
        return row.title and past_line(row) or line(row, current)
      end, callback, "claude-code.session")
    end)
  end)
end

--- Lets the user choose a session or conversation, and shows or resumes it.
function M.list()
  M.choose_any("Claude sessions", function(row)
    local show = row.title and resume or M.go_to
    show(row)
  end)
end

--- Prefers the session that has been blocked longest, then one with a last turn that the user has not seen, then the
--- next number. Skips the session with the cursor if there are others.
---@return integer? n nil if no session runs
function M.next()
  local current, rows = running.current(), M.own()
  local here = sessions.get({ buf = vim.api.nvim_get_current_buf() })
  for _, row in ipairs(rows) do
    local is_other = row.n ~= current
    local is_unseen = not row.seen and (row.state == "done" or row.state == "error")
    row.rank = row.state == "blocked" and (is_other or not here) and 1
      or is_other and is_unseen and 2
      or is_other and row.n > current and 3
      or is_other and 4
      or 5
    row.order = row.rank <= 2 and row.since or row.n
  end
  local first = require("claude-code.lib.sort")(rows, "rank", "order", "n")[1]
  return first and first.n
end

---@param text string number, name or worktree of a session
---@return integer? n
function M.find(text)
  local row = vim.iter(M.own()):find(function(row)
    return tostring(row.n) == text or row.name == text or row.worktree == text
  end)
  return row and row.n
end

--- Calls `run` with the session that a command names, or reports that there is no such session.
---@param args { session?: integer, args: string } of a command
---@param run fun(n?: integer) n is nil if the command names no session
function M.with_named(args, run)
  local given = args.session and tostring(args.session) or vim.trim(args.args)
  local n = given ~= "" and M.find(given) or nil
  if given == "" or n then
    return run(n)
  end
  notify.error(("there is no Claude session %s; :Claude sessions lists them"):format(given))
end

return M
