--- The executable's requests about proposed edits. Each becomes a diff, which is answered once (diff.lua); queue.lua
--- decides which one is on screen.
local channel = require("claude-code.server.channel")
local config = require("claude-code.config")
local diffs = require("claude-code.editor.diff.diff")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local queue = require("claude-code.editor.diff.queue")
local text = require("claude-code.editor.diff.text")

local M = {
  NO_DIFF = queue.NO_DIFF,
  current = queue.current,
  find = queue.find,
  count = queue.count,
  switch = queue.switch,
}

require("claude-code.sessions.attention").count_diffs = queue.count

local DISCONNECTED = "the connection to Claude ended"

---@class claude-code.DiffParams
---@field id integer
---@field client integer
---@field remote? string where the client runs, if not here
---@field old_path string
---@field new_path string
---@field contents string

---Claude then asks in its terminal.
local function refuse(failure)
  notify.warn(failure .. ": decide where Claude asks you", "diff")
  return nil, failure
end

---Queues a proposal. Returns at once; its end is reported as `diff_ended`.
---@return nil, claude-code.Failure?
function M.open(params)
  if config.get().diff.open == "never" then
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
  local failure = queue.add(diffs.new(params))
  if failure then
    return refuse(("the change of %s cannot be shown: %s"):format(title, failure))
  end
end

---@return integer count of diffs that this rejected
function M.reject_all()
  local open = queue.all()
  for _, diff in ipairs(open) do
    diff:reject()
  end
  return #open
end

---Closes diffs that the executable has answered: Claude asks for that, or is gone.
---@param params { ids: integer[] }
---@return integer count of those that were still open
function M.close(params)
  return #vim.tbl_filter(function(diff)
    return vim.list_contains(params.ids, diff.proposal.id) and diff:close("Claude closed the diff")
  end, queue.all())
end

---The executable is gone: no one waits for an answer any more.
function M.abandon()
  local unedited = {}
  for _, diff in ipairs(queue.all()) do
    unedited[#unedited + 1] = not diff.proposal:is_edited() and diff.proposal:title() or nil
    diff:close(DISCONNECTED)
  end
  if #unedited > 0 then
    local words = "%s: decide about %s where Claude asks you"
    local what = #unedited == 1 and unedited[1] or ("%d changes"):format(#unedited)
    notify.warn(words:format(DISCONNECTED, what), "diff")
  end
end

---Fills a buffer of a diff that `:edit!` has emptied: no file has its name.
---@return boolean filled
function M.refill(buf)
  return vim.iter(queue.all()):any(function(diff)
    return diff:refill(buf)
  end)
end

---Neovim exits: sends the answers, and lets :mksession save the user's windows.
function M.exit()
  for _, diff in ipairs(queue.all()) do
    diff:exit()
  end
end

return M
