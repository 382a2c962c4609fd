--- The mod, our code inside a session's CLI (src/mod/): it submits prompts, fills the draft, runs slash commands. A CLI
--- may have none, so every caller has an alternative, or says why it fails.
local channel = require("claude-code.server.channel")
local rows = require("claude-code.sessions.rows")

local M = {}

---@class claude-code.ModFailure
--- Nothing was sent after `no_mod` and `dropped`. After `gone` perhaps it was: never repeat it.
---@field code "no_mod"|"no_command"|"dropped"|"dialog"|"gone"|"refused"
---@field message string for the user

---@alias claude-code.ModCallback fun(failure?: claude-code.ModFailure, value?: any) in the main loop

---@class claude-code.Written a part of the answer that Claude is writing
---@field answer integer number of the answer
---@field row integer line of the answer, from 0, that `lines` replace, with all after it
---@field lines string[]
---@field done boolean

---@type table<string, fun(update: claude-code.Written)> by session id
local listeners = {}

---@param n integer|claude-code.SessionKey
---@return boolean is there a mod in the session's CLI?
function M.has(n)
  return channel.is_attached() and (rows.get(n) or {}).mod == true
end

local function request(n, name, params, done)
  if not M.has(n) then
    return done({ code = "no_mod", message = "Claude Code has no mod of this plugin there" })
  end
  local row = rows.get(n) --[[@as claude-code.SessionRow]]
  params.session, params.remote = row.id, row.remote
  channel.request("mod/" .. name, params, function(value, problem, code)
    done(problem and { code = code or "gone", message = problem } or nil, value)
  end)
end

---Submits a prompt as the user's own words; the draft stays. The CLI keeps the prompt while a turn runs or a dialog is
---open, and `done` is called once it is in the conversation.
---@param done claude-code.ModCallback
function M.submit(n, text, done)
  request(n, "submit", { text = text }, done)
end

---Replaces the draft. Fails as "dialog" while the CLI asks something.
---@param n integer|claude-code.SessionKey
---@param text string
---@param done fun(failure?: claude-code.ModFailure, draft?: { text: string, cursor: integer })
function M.replace(n, text, done)
  request(n, "replace", { text = text }, done)
end

---Inserts text at the cursor of the user's draft. Fails as "dialog" while the CLI asks something.
function M.fill(n, text, done)
  request(n, "fill", { text = text }, done)
end

---@param done fun(failure?: claude-code.ModFailure, draft?: { text: string, cursor: integer })
function M.draft(n, done)
  request(n, "draft", {}, done)
end

---Runs a slash command, once no turn runs.
---@param command string without the slash
---@param done fun(failure?: claude-code.ModFailure, answer?: { text?: string })
function M.run(n, command, args, done)
  request(n, "run", { command = command, args = args }, done)
end

---@param done fun(failure?: claude-code.ModFailure, commands?: { name: string, description: string }[])
function M.commands(n, done)
  request(n, "commands", {}, done)
end

function M.stop(n, done)
  request(n, "stop", {}, done)
end

---Asks a question about the conversation, to which neither question nor answer is added. The answer comes whole: the
---CLI streams none.
---@param done fun(failure?: claude-code.ModFailure, answer?: { text: string })
function M.ask(n, text, done)
  request(n, "ask", { text = text }, done)
end

local function send_follow(session)
  local remote = (rows.get({ id = session }) or {}).remote
  local params = { session = session, remote = remote, on = listeners[session] ~= nil }
  channel.request("mod/follow", params, function() end)
end

---Calls `listener` with the lines of Claude's answers while they are written, about 20 times a second.
---@param session string id
---@param listener fun(update: claude-code.Written)
---@return fun() stop
function M.follow(session, listener)
  listeners[session] = listener
  send_follow(session)
  return function()
    listeners[session] = nil
    send_follow(session)
  end
end

---@param update claude-code.Written | { session: string, remote: string }
function M.on_written(update)
  local listener = listeners[update.session]
  -- A remote reports only what its own sessions write.
  if listener and ((rows.get({ id = update.session }) or {}).remote or "") == update.remote then
    listener(update)
  end
end

---A new executable follows nothing yet.
function M.on_attach()
  vim.iter(vim.tbl_keys(listeners)):each(send_follow)
end

return M
