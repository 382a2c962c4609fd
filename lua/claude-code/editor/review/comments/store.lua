--- The user's comments on lines, for Claude. The journal of the review holds them: the executable
--- reports them, and records what changes.
local client = require("claude-code.editor.review.client")

local M = {}

---@class claude-code.ReviewComment
---@field id string
---@field path string absolute, symlinks resolved
---@field rows [integer, integer] first row (1-based) and count, as the journal has them
---@field lines string[] the first of these lines, by which they are found again
---@field text string
---@field is_sent boolean Claude has received it

---@class claude-code.ReviewCommentChange
---@field comment? string id of the one that changes; nil: a new one
---@field state "open"|"sent"|"deleted"
---@field path string
---@field rows [integer, integer]
---@field lines string[]
---@field text string

---@class claude-code.ReviewComments
---@field all claude-code.ReviewComment[] in the order in which they were made
---@field sending table<string, true?> those that are being recorded as sent, by their ids: a list from
--- before must not make them wait again
---@field listener? fun()
local comments = { all = {}, sending = {} }

---@param list claude-code.ReviewComment[]
local function set(list)
  comments.all = list
  for _, comment in ipairs(list) do
    comment.is_sent = comment.is_sent or comments.sending[comment.id] == true
  end
  if comments.listener then
    comments.listener()
  end
end

---@param summary claude-code.ReviewSummary?
local function on_summary(summary)
  if summary and not vim.deep_equal(summary.comments, comments.all) then
    set(summary.comments)
  end
end

---Calls `listener` whenever there are other comments than before, from those on that there are now.
---@param listener fun()
---@return boolean began false if somebody follows already
function M.follow(listener)
  if comments.listener then
    return false
  end
  comments.listener = listener
  client.on_summary(on_summary)
  on_summary(client.summary())
  return true
end

---@return claude-code.ReviewComment[]
function M.all()
  return comments.all
end

---@return claude-code.ReviewComment[] those that Claude has not received
function M.waiting()
  return vim.tbl_filter(function(comment)
    return not comment.is_sent
  end, comments.all)
end

---@param name string real path
---@return claude-code.ReviewComment[]
function M.of_file(name)
  return vim.tbl_filter(function(comment)
    return comment.path == name
  end, comments.all)
end

---@param changes claude-code.ReviewCommentChange[] not empty
---@param callback? fun() once they are recorded; a message says if they cannot be
function M.save(changes, callback)
  local sent = vim.tbl_filter(function(change)
    return change.state == "sent"
  end, changes)
  ---@param is_sending? true
  local function note(is_sending)
    for _, change in ipairs(sent) do
      comments.sending[change.comment] = is_sending
    end
  end
  note(true)
  set(comments.all)
  client.request("comments", { changes = changes }, function(list, problem)
    note(nil)
    if problem then
      local text = "your comment could not be recorded (%s): %s"
      return require("claude-code.messages.notify").error(text:format(problem, changes[1].text))
    end
    set(list)
    if callback then
      callback()
    end
  end)
end

return M
