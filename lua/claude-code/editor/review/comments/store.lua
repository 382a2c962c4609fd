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

local comments = {} ---@type claude-code.ReviewComment[] in the order in which they were made
local listener ---@type fun()?

---Those that are being recorded as sent: a list from before must not make them wait again.
local sent = {} ---@type table<string, true?>

---@param list claude-code.ReviewComment[]
local function set(list)
  comments = list
  for _, comment in ipairs(list) do
    comment.is_sent = comment.is_sent or sent[comment.id] == true
  end
  if listener then
    listener()
  end
end

---Calls `on_change` whenever there are other comments than before.
---@param on_change fun()
function M.follow(on_change)
  if not listener then
    client.on_news(function(news)
      if not vim.deep_equal(news.comments, comments) then
        set(news.comments)
      end
    end)
  end
  listener = on_change
end

---@return claude-code.ReviewComment[]
function M.all()
  return comments
end

---@param name string real path
---@return claude-code.ReviewComment[]
function M.of_file(name)
  return vim.tbl_filter(function(comment)
    return comment.path == name
  end, comments)
end

---@param changes claude-code.ReviewCommentChange[] not empty
---@param callback? fun() once they are recorded; a message says if they cannot be
function M.save(changes, callback)
  local ids = {}
  for _, change in ipairs(changes) do
    ids[#ids + 1] = change.state == "sent" and change.comment or nil
  end
  for _, id in ipairs(ids) do
    sent[id] = true
  end
  set(comments)
  client.request("comments", { changes = changes }, function(list, problem)
    for _, id in ipairs(ids) do
      sent[id] = nil
    end
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
