--- Comments on lines, for Claude: :Claude comment makes, edits, deletes and sends them.
local api = vim.api
local base = require("claude-code.editor.review.base")
local list = require("claude-code.editor.review.list")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local send = require("claude-code.editor.review.comments.send")
local store = require("claude-code.editor.review.comments.store")

local M = {}

---The comment at a row; one that waits to be sent rather than one that was.
---@param buf integer
---@param row integer from 1
---@return claude-code.ReviewComment?
function M.at(buf, row)
  local sent
  for _, comment in ipairs(store.of_buffer(buf)) do
    local place = store.place(comment)
    if row >= place.first and row <= place.last then
      if not comment.is_sent then
        return comment
      end
      sent = sent or not place.is_outdated and comment or nil
    end
  end
  return sent
end

local function report()
  local count = #store.waiting()
  if count == 0 then
    return notify.info("the comment is deleted", "send")
  end
  local words = count == 1 and "1 comment waits" or ("%d comments wait"):format(count)
  -- The message that they are sent has the same topic, and replaces it.
  notify.info(words .. " to be sent: :Claude comment! sends all", "send")
end

---@class claude-code.CommentTarget
---@field path string real
---@field first integer
---@field last integer
---@field lines string[]
---@field comment? claude-code.ReviewComment that is there

---@param first integer
---@param last integer
---@return claude-code.CommentTarget?
local function target_of(buf, first, last)
  -- A deleted file's text is in a buffer of its own.
  local name = base.file_of(buf) or path.of_buffer(buf)
  if not name then
    notify.warn("this buffer is not a file; go to one to comment on its lines")
    return nil
  elseif require("claude-code.context.send").refuse_private(buf) then
    return nil
  end
  local lines = api.nvim_buf_get_lines(buf, first - 1, last, false)
  local target = { path = path.real(name), first = first, last = last, lines = lines }
  target.comment = M.at(buf, first)
  return target
end

---@param target claude-code.CommentTarget
---@param text string empty: the comment is deleted
---@param callback fun()
local function save(target, text, callback)
  local comment = target.comment
  if text == "" then
    return comment and store.save({ store.change(comment, "deleted") }, callback)
  elseif comment then
    local change = store.change(comment, "open")
    change.text = text
    return store.save({ change }, callback)
  end
  local rows = { target.first, target.last - target.first + 1 }
  local lines = store.snippet(target.lines)
  local change = { state = "open", path = target.path, rows = rows, lines = lines, text = text }
  store.save({ change }, callback)
end

---Makes a comment, or changes the one that is there.
---@param target claude-code.CommentTarget
---@param args claude-code.CommandArgs
local function comment_on(target, args)
  local function done(text)
    if not text then
      return
    end
    save(target, vim.trim(text), function()
      if args.bang then
        send.all(true)
      else
        report()
      end
    end)
  end
  if args.args ~= "" then
    return done(args.args)
  end
  local default = target.comment and target.comment.text or ""
  vim.ui.input({ prompt = "Comment for Claude: ", default = default }, done)
end

---@param args claude-code.CommandArgs
function M.command(args)
  store.start()
  if args.bang and args.args == "" and args.range == 0 then
    return send.all(true)
  end
  local buf, first, last = list.lines(args.range > 0 and { args.line1, args.line2 } or nil)
  if base.file_of(buf) and not api.nvim_buf_is_loaded(buf) then
    return notify.warn("show the deleted file first, to comment on its lines")
  end
  vim.fn.bufload(buf)
  local target = target_of(buf, first, last)
  if target then
    comment_on(target, args)
  end
end

return M
