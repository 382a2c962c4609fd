--- Proposed edits, shown as diffs and answered once each: what the executable, commands and keys ask for. The life of
--- one is in diff.lua, the order of all in queue.lua.
local channel = require("claude-code.server.channel")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local queue = require("claude-code.editor.diff.queue")
local text = require("claude-code.editor.diff.text")

local M = {}

---@class claude-code.DiffParams
---@field id integer
---@field client integer
---@field remote? string where the client runs, if not here
---@field old_path string
---@field new_path string
---@field contents string

---The CLI then asks by itself, and the user reads why.
---@return nil
---@return claude-code.Failure
local function refuse(failure)
  notify.warn(failure .. ": decide where Claude asks you", "diff")
  return nil, failure
end

---Queues a proposal. Returns at once; the end comes as `diff_ended`.
---@param params claude-code.DiffParams
---@return nil
---@return claude-code.Failure?
function M.open(params)
  if require("claude-code.config").get().diff.open == "never" then
    return nil, "the user wants no diff in Neovim (diff.open)"
  end
  local title = path.title(params.new_path)
  local stat = vim.uv.fs_stat(params.new_path)
  if stat and stat.type == "directory" then
    return refuse(title .. " is a folder")
  end
  local problem = text.too_big(params.contents)
    or text.file_too_big(params.new_path)
    or text.file_too_big(params.old_path)
  if problem then
    return refuse(("%s is too big for a diff (%s)"):format(title, problem))
  end
  channel.on_detach(M.abandon)
  require("claude-code.sessions.leaving").watch()
  local failure = queue.add(params)
  if failure then
    return refuse(("the change of %s cannot be shown: %s"):format(title, failure))
  end
end

---Nobody waits for its answer any more: what the user made of it stays in a buffer.
---@param what string what happened
---@return boolean closed false if it has ended already
local function close(diff, what)
  local keep = not diff.outcome and diff.proposal:keeper()
  if keep then
    keep(what)
  end
  return diff:finish("closed")
end

---Ends diffs that the executable has answered itself: Claude asks for that, or is gone.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  local count, closes = 0, {}
  for _, id in ipairs(params.ids) do
    closes[id] = true
  end
  -- The one on screen comes last, or the others would flash up behind it.
  for _, diff in ipairs(queue.all()) do
    if closes[diff.proposal.id] and close(diff, "Claude closed the diff") then
      count = count + 1
    end
  end
  return count
end

---@param id? integer without it the diff on screen
---@param force? boolean even if the file is read-only
---@return boolean? done nil if there is none; false if not, and a message said why
function M.accept(id, force)
  local diff = queue.find(id)
  if diff then
    return diff:accept({ force = force })
  end
end

---@param id? integer without it the diff on screen
---@param reason? string for Claude
---@return boolean? done nil if there is none
function M.reject(id, reason)
  local diff = queue.find(id)
  if diff then
    return diff:reject(reason)
  end
end

---@return integer count of diffs that this rejected
function M.reject_all()
  local all = queue.all()
  for _, diff in ipairs(all) do
    diff:reject()
  end
  return #all
end

---Does what a key of the diff on screen does.
---@param action string
---@return boolean? done nil if there is none
function M.act(action)
  local diff = queue.find()
  if diff then
    diff:act(action)
    return true
  end
end

---Shows another of the diffs that wait, wherever the user is.
---@param step 1|-1
---@return boolean? done nil if none waits
function M.switch(step)
  if M.count() > 0 then
    queue.switch(step)
    return true
  end
end

---Fills a buffer of a diff again, which Neovim has emptied (`:edit!`): there is no file of its name to read.
---@param buf integer
---@return boolean filled
function M.refill(buf)
  return vim.iter(queue.all()):any(function(diff)
    local is_its = vim.tbl_contains(diff.proposal:buffers(), buf)
    if is_its then
      diff:refill(buf)
    end
    return is_its
  end)
end

---The executable is gone: nobody waits for an answer any more.
function M.abandon()
  for _, diff in ipairs(queue.all()) do
    close(diff, "the connection to Claude ended")
  end
end

---@return claude-code.Diff? shown
function M.current()
  return queue.find()
end

---@param client? integer only of this one
---@return integer count of diffs that wait for the user
function M.count(client)
  return #vim.tbl_filter(function(diff)
    return not client or diff.proposal.client == client
  end, queue.all())
end

require("claude-code.sessions.attention").count_diffs = M.count

---Neovim ends: the answers go out, and what is saved by :mksession shows the user's windows.
function M.exit()
  for _, diff in ipairs(queue.all()) do
    diff:exit()
  end
end

return M
