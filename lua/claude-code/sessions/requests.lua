--- Claude's questions that the user may answer in Neovim. A PermissionRequest hook waits beside the CLI's own dialog.
--- Neovim's answer ends the dialog, too; an answer in the dialog unblocks the session, which ends the hook.
local channel = require("claude-code.server.channel")
local rows = require("claude-code.sessions.rows")

local M = {}

--- A session that is not blocked after this time shows no dialog, and its hook must not keep it waiting.
local DIALOG_MS = 5000

---@class claude-code.PermissionReply to one question
---@field options? integer[] numbers of the options
---@field text? string by the user

---@class claude-code.PermissionAnswer
---@field allow boolean
---@field suggestion? integer index of a suggestion to allow as well
---@field reason? string for Claude, which then continues; without a reason it stops
---@field replies? claude-code.PermissionReply[] one per question
---@field plan? string with the user's edits
---@field mode? "default"|"acceptEdits" permission mode after a plan

---@class claude-code.PermissionQuestion
---@field text string[]
---@field multiple boolean several options may be chosen
---@field options { label: string, description: string }[]

---@class claude-code.PermissionRequest
---@field id integer
---@field session? integer number; nil if it runs elsewhere
---@field pid? integer the CLI's
---@field tool string
---@field title string one line
---@field lines string[] the whole request
---@field syntax? string 'syntax' of the lines
---@field is_edit? boolean
---@field suggestions string[] rules that the CLI offers to allow as well
---@field questions? claude-code.PermissionQuestion[]
---@field plan? string of ExitPlanMode, in Markdown
---@field conversation? string id

---@class claude-code.WaitingRequest
---@field request claude-code.PermissionRequest
---@field channel integer of the hook
---@field wait integer the hook's id for the request
---@field on_end fun()[]

local ASKED = { "tool", "title", "lines", "syntax", "is_edit", "suggestions", "questions", "plan" }

local waiting = {} ---@type claude-code.WaitingRequest[] oldest first
local last_id = 0

local function row_of(params)
  return rows.get({ n = params.n, pid = params.pid, id = params.session })
end

local function is_of(row, request)
  return row.n ~= nil and row.n == request.session or row.pid ~= nil and row.pid == request.pid
end

--- Ends the hook, with or without an answer for Claude.
local function finish(entry, answer)
  waiting = vim.tbl_filter(function(other)
    return other ~= entry
  end, waiting)
  local payload = { id = entry.wait, answer = answer and { value = answer } or vim.empty_dict() }
  pcall(vim.rpcnotify, entry.channel, "claude_code", "settled", payload)
  for _, callback in ipairs(entry.on_end) do
    callback()
  end
end

local function finish_where(ends)
  for _, entry in ipairs(vim.tbl_filter(ends, waiting)) do
    finish(entry)
  end
end

--- The CLI ends a hook silently on Esc and after a timeout.
local function prune()
  finish_where(function(entry)
    return not channel.is_open(entry.channel)
  end)
end

--- A session is blocked while its dialog is open. A request may precede that by a moment.
local function on_session(_, event)
  local row = event.data.session ---@type claude-code.SessionRow
  local is_over = event.match == "ClaudeCodeSessionEnded"
    or row.state ~= "blocked" and (event.data.from == "blocked" or row.state ~= "working")
  if is_over then
    finish_where(function(entry)
      return is_of(row, entry.request)
    end)
  end
end

---A background session ignores an answer. A session with another source does not report the end of its dialog.
---@param params claude-code.HookParams|{ plan?: string }
---@return boolean may the user answer here?
function M.wanted(params)
  local options = require("claude-code.config").get().permissions
  if not options.answer and not (options.plan and params.plan) then
    return false
  end
  local row = row_of(params)
  return row ~= nil
    and row.where ~= "background"
    and (row.source == "terminal" or row.source == "registry")
end

local function is_asked(entry)
  local row = rows.get({ n = entry.request.session, pid = entry.request.pid })
  return row ~= nil and row.state == "blocked"
end

---@param params claude-code.HookParams|claude-code.PermissionRequest|{ channel: integer, id: integer }
---@return table answer empty if it follows as the notification "settled"
---@return claude-code.PermissionRequest? request nil if the user cannot answer it here
function M.add(params)
  local row = M.wanted(params) and row_of(params)
  if not row then
    return { answer = vim.empty_dict() }
  end
  local group = require("claude-code.lib.autocommands").new("sessions.requests")
  local events = { "ClaudeCodeSessionChanged", "ClaudeCodeSessionEnded" }
  group:on("User", on_session, { pattern = events })
  -- A session has one dialog at a time, so the user answered the previous one in the terminal.
  finish_where(function(entry)
    return is_of(row, entry.request)
  end)
  last_id = last_id + 1
  local request = { id = last_id, session = row.n, pid = row.pid }
  request.conversation = params.session
  for _, name in ipairs(ASKED) do
    request[name] = params[name]
  end
  local entry = { channel = params.channel, wait = params.id, on_end = {}, request = request }
  table.insert(waiting, entry)
  require("claude-code.lib.timer").once(DIALOG_MS, function()
    if vim.list_contains(waiting, entry) and not is_asked(entry) then
      finish(entry)
    end
  end)
  return vim.empty_dict(), entry.request
end

---@return claude-code.PermissionRequest[] oldest first
function M.list()
  prune()
  return vim.tbl_map(function(entry)
    return entry.request
  end, vim.tbl_filter(is_asked, waiting))
end

---@return claude-code.PermissionRequest?
function M.of(row)
  return vim.iter(M.list()):find(function(request)
    return is_of(row, request)
  end)
end

local function find(id)
  prune()
  return vim.iter(waiting):find(function(entry)
    return entry.request.id == id
  end)
end

function M.is_waiting(id)
  return find(id) ~= nil
end

---Calls back when a request ends for any reason.
function M.on_end(id, callback)
  local entry = find(id)
  if entry then
    table.insert(entry.on_end, callback)
  end
end

---@return boolean ok, string? problem
function M.answer(id, answer)
  local entry = find(id)
  if not entry or not is_asked(entry) then
    return false, "that request was answered already, or Claude no longer asks it"
  end
  finish(entry, answer)
  return true
end

---Ends all requests without an answer. The CLIs' own dialogs stay open.
function M.end_all()
  finish_where(function()
    return true
  end)
end

return M
