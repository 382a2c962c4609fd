--- Diffs: each is queued, shown, and answered once.
local channel = require("claude-code.server.channel")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local queues = require("claude-code.editor.diff.queue")
local text = require("claude-code.editor.diff.text")

local M = {}

local queue ---@type claude-code.Queue

---@param diff claude-code.Diff
---@param options? { in_write?: boolean, force?: boolean } force: even if the file is read-only
---@return boolean ended by this call; if not, a message said why
local function accept(diff, options)
  options = options or {}
  -- Without the executable nobody would write it; the diff then ends by itself.
  if not channel.is_attached() or diff.outcome then
    return false
  end
  local outcome = diff.proposal:accept(options.force)
  if outcome then
    return queue:finish(diff, outcome, options.in_write)
  elseif diff.view then
    diff.view:refresh()
  end
  return false
end

---@param diff claude-code.Diff
---@param reason? string for Claude
---@return boolean ended by this call
local function reject(diff, reason)
  if not diff.outcome then
    diff.reason = reason
  end
  return queue:finish(diff, "rejected")
end

---@param diff claude-code.Diff
---@param act fun(cursor: claude-code.HunkCursor)
---@return fun()
local function on_screen(diff, act)
  return function()
    if diff.view and not diff.outcome and diff.view:is_intact() then
      act(diff.view.cursor)
      diff.view:refresh()
    end
  end
end

---@param diff claude-code.Diff
---@param direction 1|-1
---@return fun()
local function move(diff, direction)
  return on_screen(diff, function(cursor)
    cursor:move(direction * vim.v.count1)
  end)
end

---@param diff claude-code.Diff
---@return table<claude-code.DiffAction, fun()>
local function actions_on(diff)
  return {
    accept = function()
      accept(diff)
    end,
    reject = function()
      reject(diff)
    end,
    reject_with_reason = function()
      require("claude-code.editor.diff.reason").ask(diff.proposal:title(), function(reason)
        return reject(diff, reason)
      end)
    end,
    next_hunk = move(diff, 1),
    previous_hunk = move(diff, -1),
    accept_hunk = on_screen(diff, function(cursor)
      cursor:accept()
    end),
    drop_hunk = on_screen(diff, function(cursor)
      cursor:drop()
    end),
    merge = on_screen(diff, function()
      diff.proposal.merge:run()
    end),
    next_diff = function()
      queue:switch(1)
    end,
    previous_diff = function()
      queue:switch(-1)
    end,
  }
end

---@param diff claude-code.Diff
---@return claude-code.ViewCallbacks
local function callbacks(diff)
  return {
    actions = actions_on(diff),
    write = function(force)
      return accept(diff, { in_write = true, force = force })
    end,
    closed = function()
      queue:finish(diff, "rejected")
    end,
    left = function()
      queue:put_aside(diff)
    end,
    position = function()
      return diff.number, diff.series.total
    end,
  }
end

queue = queues.new(callbacks)

---@class claude-code.DiffParams
---@field id integer
---@field client integer
---@field old_path string
---@field new_path string
---@field contents string

---@param params claude-code.DiffParams
---@return string? problem
local function too_big(params)
  local problem = text.too_big(params.contents) or text.file_too_big(params.new_path)
  local is_other = params.old_path ~= params.new_path
  return problem or is_other and text.file_too_big(params.old_path) or nil
end

---Queues a proposal. Returns at once; the end comes as `diff_ended`.
---@param params claude-code.DiffParams
---@return true?
---@return claude-code.Failure?
function M.open(params)
  local title = path.title(params.new_path)
  local stat = vim.uv.fs_stat(params.new_path)
  if stat and stat.type == "directory" then
    return nil, params.new_path .. " is a folder"
  end
  local problem = too_big(params)
  if problem then
    local failure = ("%s is too big for a diff (%s)"):format(title, problem)
    notify.warn(failure .. ": decide where Claude asks you", "diff")
    return nil, failure
  end
  channel.on_detach(M.abandon)
  local failure = queue:add(params)
  if failure then
    return nil, ("cannot show the change of %s: %s"):format(title, failure)
  end
  return true
end

---Ends diffs that the executable has answered itself.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  local count, closes = 0, {}
  for _, id in ipairs(params.ids) do
    closes[id] = true
  end
  -- The one on screen comes last, or the others would flash up behind it.
  for _, diff in ipairs(queue:all()) do
    if closes[diff.proposal.id] and queue:finish(diff, "closed") then
      count = count + 1
    end
  end
  return count
end

---@param id? integer without it the diff on screen
---@param force? boolean even if the file is read-only
---@return boolean? done nil if there is none; false if not, and a message said why
function M.accept(id, force)
  local diff = queue:find(id)
  if diff then
    return accept(diff, { force = force })
  end
end

---@param id? integer without it the diff on screen
---@param reason? string for Claude
---@return boolean? done nil if there is none
function M.reject(id, reason)
  local diff = queue:find(id)
  if diff then
    return reject(diff, reason)
  end
end

---@return integer count of diffs that this rejected
function M.reject_all()
  local diffs = queue:all()
  for _, diff in ipairs(diffs) do
    queue:finish(diff, "rejected")
  end
  return #diffs
end

---Does what a key of the diff on screen does.
---@param action claude-code.DiffAction
---@return boolean? done nil if there is none
function M.act(action)
  local diff = queue:find()
  if diff then
    actions_on(diff)[action]()
    return true
  end
end

---Shows another of the diffs that wait, wherever the user is.
---@param step 1|-1
---@return boolean? done nil if none waits
function M.switch(step)
  if M.count() > 0 then
    queue:switch(step)
    return true
  end
end

---The executable is gone: nobody waits for an answer any more.
function M.abandon()
  for _, diff in ipairs(queue:all()) do
    require("claude-code.editor.diff.kept_edits").keep(diff.proposal)
    queue:finish(diff, "closed")
  end
end

---@return claude-code.Diff? shown
function M.current()
  return queue:find()
end

---@param client? integer only of this one
---@return integer count of diffs that wait for the user
function M.count(client)
  return #vim.tbl_filter(function(diff)
    return not client or diff.proposal.client == client
  end, queue:all())
end

require("claude-code.sessions.attention").count_diffs = M.count

---Neovim ends: the answers go out, and what is saved by :mksession shows the user's windows.
function M.exit()
  queue:exit()
end

return M
