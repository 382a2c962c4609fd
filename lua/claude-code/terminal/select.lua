--- The list of sessions, by vim.ui.select: those of this Neovim, those that run elsewhere in the
--- workspace, then past conversations. Also finds sessions by name, and the next one.
local label = require("claude-code.sessions.label")
local notify = require("claude-code.messages.notify")
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")
local terminal = require("claude-code.terminal")

local M = {}

local function place(row, current)
  local parts = {}
  if row.n then
    parts[1] = row.worktree and row.worktree ~= row.name and "worktree " .. row.worktree or nil
    parts[#parts + 1] = row.job and "background" or nil
    parts[#parts + 1] = require("claude-code.sessions.transcripts").fullness(row)
    parts[#parts + 1] = row.n == current and "current" or nil
  else
    parts[1] = row.where == "background" and row.where or terminal.PLACES[row.where]
  end
  return #parts > 0 and (" (%s)"):format(table.concat(parts, ", ")) or ""
end

--- "2 ● docs: Reading api.md, 3 min (current)"
local function line(row, current)
  local number = row.n and tostring(row.n) or " "
  return ("%s %s %s: %s, %s%s"):format(
    number,
    label.symbol(row),
    label.name(row),
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

local function choose(rows, prompt, callback)
  if #rows == 0 then
    return notify.info("no Claude session runs; :Claude starts one")
  end
  local current = running.current()
  local options = {
    prompt = prompt,
    kind = "claude-code.session",
    format_item = function(row)
      return row.title and past_line(row) or line(row, current)
    end,
  }
  vim.ui.select(rows, options, function(row)
    if row then
      callback(row)
    end
  end)
end

---@return claude-code.SessionRow[] of this Neovim's terminals
function M.own()
  -- This removes those that have ended.
  running.list()
  return label.own()
end

---@class claude-code.Conversation
---@field id string
---@field title string one line
---@field cwd string absolute; Claude resumes it only there
---@field exists boolean whether that folder is still there
---@field branch? string
---@field bytes integer
---@field at number ms since 1970, of its last entry

--- Lets the user choose from all sessions and past conversations.
---@param prompt string
---@param callback fun(row: claude-code.SessionRow|claude-code.Conversation)
function M.choose_any(prompt, callback)
  sessions.refresh(function()
    require("claude-code.server.requests").request("sessions/past", {}, function(past, problem)
      if problem then
        notify.info("only the sessions of this Neovim are known: " .. problem, "sessions")
      end
      local rows = M.own()
      for _, row in ipairs(sessions.list()) do
        rows[#rows + 1] = not row.n and row or nil
      end
      for _, conversation in ipairs(past or {}) do
        rows[#rows + 1] = not sessions.get({ id = conversation.id }) and conversation or nil
      end
      choose(rows, prompt, callback)
    end)
  end)
end

--- Lets the user choose one, and shows or resumes it.
function M.show()
  M.choose_any("Claude sessions", function(row)
    if row.title then
      terminal.resume(row --[[@as claude-code.Conversation]])
    else
      terminal.go_to(row)
    end
  end)
end

---@param matches fun(row: claude-code.SessionRow): boolean
---@return claude-code.SessionRow? row that has matched longest
local function longest(rows, matches)
  local found
  for _, row in ipairs(rows) do
    if matches(row) and (not found or row.since < found.since) then
      found = row
    end
  end
  return found
end

--- The session that has needed input longest; else one whose last turn the user has not looked at; else the one with
--- the next number. It is not the one that has the cursor.
---@return integer? n nil if no session runs
function M.next()
  local current = running.current()
  local here = sessions.get({ buf = vim.api.nvim_get_current_buf() })
  local rows = M.own()
  local others = vim.tbl_filter(function(row)
    return row.n ~= current
  end, rows)
  local found = longest(here and others or rows, function(row)
    return row.state == "blocked"
  end) or longest(others, function(row)
    return not row.seen and (row.state == "done" or row.state == "error")
  end) or vim.iter(others):find(function(row)
    return row.n > current
  end) or others[1] or rows[1]
  return found and found.n
end

--- Finds a session by its number, or its name.
---@param text string
---@return integer? n
function M.find(text)
  local row = vim.iter(M.own()):find(function(row)
    return tostring(row.n) == text or row.name == text or row.worktree == text
  end)
  return row and row.n
end

--- Runs a command with the session that it names, by number or name, or says that there is no such session.
---@param args { session?: integer, args: string } of a command
---@param run fun(n?: integer) nil: it names no session
function M.with_named(args, run)
  local given = args.session and tostring(args.session) or vim.trim(args.args)
  local n = given ~= "" and M.find(given) or nil
  if given == "" or n then
    return run(n)
  end
  local text = "there is no Claude session %s; :Claude sessions lists them"
  notify.error(text:format(given))
end

return M
