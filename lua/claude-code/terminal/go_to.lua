--- The way to a session, wherever it runs. One that runs is never resumed: two Claudes would write into
--- one file.
local running = require("claude-code.terminal.running")
local sessions = require("claude-code.sessions")

local M = {}

---@type table<string, string>
M.PLACES = {
  here = "another terminal of this Neovim",
  tmux = "tmux",
  outside = "another terminal",
  neovim = "another Neovim",
  background = "the background",
}

---@param row claude-code.SessionRow of a terminal that is not ours to move
local function name_place(row)
  local name = require("claude-code.sessions.label").name(row)
  local process = row.pid and (" (process %d)"):format(row.pid) or ""
  local text = ("%s runs in %s%s"):format(name, M.PLACES[row.where], process)
  require("claude-code.messages.notify").info(text)
end

--- Shows a session of this Neovim; opens a terminal for one in the background (`claude attach`); says where
--- any other one runs.
---@param row claude-code.SessionRow
function M.session(row)
  if row.n then
    running.focus(row.n)
  elseif row.job then
    local folder = vim.fn.isdirectory(row.cwd or "") == 1 and row.cwd or nil
    require("claude-code.terminal.start").run({ "attach", row.job }, nil, folder)
  elseif row.buf and vim.api.nvim_buf_is_valid(row.buf) then
    vim.cmd.sbuffer(row.buf)
  else
    name_place(row)
  end
end

local function named(session)
  return vim.iter(sessions.list()):find(function(row)
    if row.job and session.job then
      -- To the CLI, a part of the name will do.
      return row.job == session.job or (row.name or ""):find(session.job, 1, true) ~= nil
    end
    return row.id ~= nil and row.id == session.id
  end)
end

--- Finds the session that runs already and that these arguments of the CLI resume, or attach.
---@param arguments string[]
---@param callback fun(row?: claude-code.SessionRow) at once where they name none
function M.find(arguments, callback)
  local session = require("claude-code.terminal.launch").session_of(arguments)
  if session.is_new or not (session.id or session.job) then
    return callback(nil)
  end
  sessions.refresh(function()
    callback(named(session))
  end)
end

--- Resumes a past conversation. One that was resumed in the meantime is shown.
---@param past claude-code.Conversation
function M.conversation(past)
  local row = sessions.get({ id = past.id })
  if row then
    M.session(row)
  elseif vim.fn.isdirectory(past.cwd) == 0 then
    local text = "Claude resumes this conversation only in %s, and that folder is gone"
    require("claude-code.messages.notify").warn(text:format(past.cwd))
  else
    require("claude-code.terminal.start").run({ "--resume", past.id }, nil, past.cwd)
  end
end

return M
