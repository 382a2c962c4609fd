--- The diffs that wait for a person: one is shown, the others queue. Each is answered once.
local api = vim.api
local calm = require("claude-code.editor.diff.calm")
local path = require("claude-code.editor.path")
local say = require("claude-code.editor.say")
local screen = require("claude-code.editor.diff.screen")
local winbar = require("claude-code.editor.diff.winbar")

local M = {}

local waiting = {} ---@type claude-code.Diff[] not shown yet, the next one first
local shown ---@type claude-code.Diff? on screen, or ended and about to leave it
---How many of a series have ended; a series lasts until none waits.
local ended = 0

local advance, finish

---@param event "DiffOpened"|"DiffAccepted"|"DiffRejected"|"DiffClosed"
---@param session claude-code.Diff
local function emit(event, session)
  require("claude-code.events").emit(event, {
    id = session.id,
    client = session.client,
    path = session.new_path,
  })
end

local function refresh_winbar()
  if shown and not shown.outcome then
    winbar.show(shown, ended + 1, ended + 1 + #waiting)
  end
end

---@param session claude-code.Diff
local function drop(session)
  waiting = vim.tbl_filter(function(other)
    return other ~= session
  end, waiting)
end

local function leave_screen()
  screen.leave(shown, function()
    shown = nil
    advance()
  end)
end

---@param session claude-code.Diff
---@return claude-code.DiffDecisions
local function decisions(session)
  return {
    accept = function()
      finish(session, "accepted")
    end,
    reject = function()
      finish(session, "rejected")
    end,
    write = function()
      finish(session, "accepted", true)
    end,
  }
end

---@param session claude-code.Diff
local function show(session)
  local focused = screen.show(session, decisions(session))
  shown = session
  drop(session)
  refresh_winbar()
  local base = path.base(session.new_path)
  if session.unsaved then
    say.warn(base .. " has unsaved edits: they are kept; the diff is against the file on disk")
  elseif not focused then
    say.info(("a proposed change of %s waits in another window"):format(base))
  end
  emit("DiffOpened", session)
end

---@param session claude-code.Diff
local function wait(session)
  if not session.announced then
    session.announced = true
    local base = path.base(session.new_path)
    say.info(("a proposed change of %s waits until you are back in normal mode"):format(base))
  end
  calm.later(advance)
end

---Shows the next diff if none is on screen and the moment allows it.
---@return string? failure
function advance()
  local session = waiting[1]
  if shown or not session then
    ended = shown and ended or 0
    return
  elseif not screen.has_room() then
    return wait(session)
  end
  local ok, message = pcall(show, session)
  if ok then
    return
  elseif calm.is_refusal(message) then
    return wait(session)
  end
  drop(session)
  return message
end

---@param session claude-code.Diff
---@param outcome claude-code.DiffOutcome
local function tell(session, outcome)
  if outcome == "closed" then
    return emit("DiffClosed", session)
  end
  local accepted = outcome == "accepted"
  require("claude-code.editor").notify("diff_ended", {
    id = session.id,
    outcome = outcome,
    lines = accepted and session:edited_lines() or nil,
  })
  if accepted then
    require("claude-code.editor.reload").watch({ path = session.new_path })
  end
  emit(accepted and "DiffAccepted" or "DiffRejected", session)
end

---Ends a diff, whatever its state; a second end does nothing.
---@param session claude-code.Diff
---@param outcome claude-code.DiffOutcome
---@param busy? boolean its windows must wait for what Neovim is doing (a write)
---@return boolean ended by this call
function finish(session, outcome, busy)
  if session.outcome then
    return false
  end
  session.outcome = outcome
  tell(session, outcome)
  ended = ended + 1
  if session ~= shown then
    drop(session)
    refresh_winbar()
    return true
  end
  screen.unwatch()
  if busy then
    vim.schedule(leave_screen)
  else
    leave_screen()
  end
  return true
end

---@return claude-code.Diff[] all that are open, the one on screen last
local function all()
  local sessions = vim.list_slice(waiting)
  if shown and not shown.outcome then
    sessions[#sessions + 1] = shown
  end
  return sessions
end

---@param id? integer
---@return claude-code.Diff? session the one with this id; without it the one on screen
local function find(id)
  for _, session in ipairs(all()) do
    if session.id == id or (id == nil and session == shown) then
      return session
    end
  end
end

---Queues a proposal. Returns at once; the end comes as `diff_ended`.
---@param params claude-code.DiffParams
---@return true?
---@return claude-code.Failure?
function M.open(params)
  local stat = vim.uv.fs_stat(params.new_path)
  if stat and stat.type == "directory" then
    return nil, params.new_path .. " is a folder"
  end
  waiting[#waiting + 1] = require("claude-code.editor.diff.session").new(params)
  local failure = #waiting == 1 and advance() or nil
  refresh_winbar()
  if failure then
    return nil, ("cannot show the change of %s: %s"):format(path.base(params.new_path), failure)
  end
  return true
end

---Ends diffs that the executable has answered itself.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  local count = 0
  -- The one on screen comes last, or the others would flash up behind it.
  for _, session in ipairs(all()) do
    if vim.tbl_contains(params.ids, session.id) and finish(session, "closed") then
      count = count + 1
    end
  end
  return count
end

---@param id? integer without it the diff on screen
---@return boolean done false if there is none
function M.accept(id)
  local session = find(id)
  return session ~= nil and finish(session, "accepted")
end

---@param id? integer without it the diff on screen
---@return boolean done false if there is none
function M.reject(id)
  local session = find(id)
  return session ~= nil and finish(session, "rejected")
end

---The executable is gone: nobody waits for an answer any more.
function M.abandon()
  for _, session in ipairs(all()) do
    finish(session, "closed")
  end
end

---@return claude-code.Diff? shown
function M.current()
  return find()
end

---@return integer count of diffs that wait for a person
function M.count()
  return #all()
end

api.nvim_create_autocmd("VimLeavePre", {
  group = api.nvim_create_augroup("claude-code.diff.exit", { clear = true }),
  callback = function()
    -- Answers only: the windows go with Neovim.
    for _, session in ipairs(all()) do
      session.outcome = "rejected"
      tell(session, "rejected")
    end
  end,
})

return M
