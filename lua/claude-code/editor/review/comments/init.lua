--- Makes, edits, deletes and sends comments on lines (`:Claude comment`). Claude gets them as the user's text, pasted
--- into its prompt. A CLI outside of Neovim gets a mention of a resource, which it reads when the user submits the
--- prompt.
local api = vim.api
local buffers = require("claude-code.editor.review.buffer")
local columns = require("claude-code.editor.columns")
local counted = require("claude-code.lib.text").count
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local reviews = require("claude-code.editor.review.review")
local store = require("claude-code.editor.review.comments.store")

---The resource of src/ide/server.ts, as the CLI names it.
local RESOURCE = "ide:review:comments"
---The limits of a comment's quoted lines, and of the characters of each.
local MAX_QUOTED = 10
local MAX_CHARACTERS = 300

local TITLE = "Your comments; :Claude comment delete takes a range"

local M = {}

local under_way = {} ---@type table<string, true> comments that the CLI has not taken yet, by id

---@return claude-code.ReviewComment[] that Claude may know
local function waiting()
  local privacy = require("claude-code.editor.privacy")
  return vim.tbl_filter(function(comment)
    return not under_way[comment.id] and not privacy.is_private(comment.path)
  end, store.waiting())
end

local function item(number, comment)
  local place, lines = store.place(comment)
  local rows = place.last > place.first and ("%d-%d"):format(place.first, place.last)
    or tostring(place.first)
  local name = path.title(comment.path, ":.")
  local outdated = place.is_outdated and " (these lines have changed since)" or ""
  local text = comment.text:gsub("\n", "\n   ")
  local found = { "", ("%d. %s:%s%s: %s"):format(number, name, rows, outdated, text) }
  for _, line in ipairs(vim.list_slice(lines, 1, MAX_QUOTED)) do
    local quote = line:sub(1, columns.to_byte(line, MAX_CHARACTERS, "utf-32"))
    found[#found + 1] = "   > " .. quote
  end
  found[#found + 1] = #lines > MAX_QUOTED and "   > …" or nil
  return found
end

local function message(comments)
  local lines = { "My comments on these lines:" }
  for number, comment in ipairs(comments) do
    vim.list_extend(lines, item(number, comment))
  end
  return table.concat(lines, "\n")
end

local function mark_sent(comments)
  store.save(vim.tbl_map(function(comment)
    -- Take its place first: the mark of a sent comment does not follow its lines.
    local change = store.change(comment, "sent")
    comment.is_sent = true
    return change
  end, comments))
end

---Takes the text of all waiting comments, which count as sent, for a CLI that reads the resource.
---@return string
function M.take()
  local comments = waiting()
  if #comments == 0 then
    return "You have already received every comment of the user."
  end
  local text = message(comments)
  mark_sent(comments)
  notify.info(counted(#comments, "comment") .. " sent to Claude", "send")
  return text
end

local function mention()
  if #require("claude-code.server").clients == 0 then
    return notify.warn(
      "no Claude runs, so your comments wait; :Claude starts it, :Claude comment! sends them then"
    )
  end
  local target = { path = RESOURCE, label = "your comments" }
  local accepted, problem = require("claude-code.context.mention").add({ target })
  if accepted then
    notify.info("press Enter in Claude's prompt to send your comments", "send")
  else
    notify.warn(problem --[[@as string]])
  end
end

local function send_all()
  local comments = waiting()
  if #comments == 0 then
    return notify.warn("no comment to send; :Claude comment makes one")
  end
  local function set_under_way(is_under_way)
    for _, comment in ipairs(comments) do
      under_way[comment.id] = is_under_way
    end
  end
  local options = {
    submit = true,
    what = counted(#comments, "comment"),
    name = "your comments",
  }
  set_under_way(true)
  local found = require("claude-code.terminal.prompt").send(
    message(comments),
    options,
    function(is_sent)
      set_under_way(nil)
      if is_sent then
        mark_sent(comments)
      end
    end
  )
  if not found then
    set_under_way(nil)
    mention()
  end
end

---Finds the last comment at a row that waits to be sent, or else the last one that was sent.
---@param row integer 1-based
---@return claude-code.ReviewComment?
function M.at(buf, row)
  local waits, sent
  for _, comment in ipairs(store.of_buffer(buf)) do
    local place = store.place(comment)
    if row >= place.first and row <= place.last then
      waits = not comment.is_sent and comment or waits
      sent = not place.is_outdated and comment or sent
    end
  end
  return waits or sent
end

local function report()
  local count = #store.waiting()
  if count == 0 then
    return notify.info("the comment is deleted", "send")
  end
  local words = count == 1 and "1 comment waits" or ("%d comments wait"):format(count)
  -- The message that they are sent has the same topic and replaces this one.
  notify.info(words .. " to be sent: :Claude comment! sends all", "send")
end

---Makes a comment from the words of the command, or asks for them to make or change one; an empty answer deletes it.
---@param comment? claude-code.ReviewComment at the row
local function comment_on(new, comment, args)
  local function done(answer)
    local text = vim.trim(answer or "")
    if answer and (text ~= "" or comment) then
      local change = comment and store.change(comment, text == "" and "deleted" or "open") or new
      change.text = text ~= "" and text or change.text
      store.save({ change }, args.bang and send_all or report)
    end
  end
  if args.args ~= "" then
    comment = nil
    return done(args.args)
  end
  local default = comment and comment.text or ""
  vim.ui.input({ prompt = "Comment for Claude: ", default = default }, done)
end

local function list_item(comment)
  local place, state = store.place(comment), comment.is_sent and "sent" or "waits"
  local lines = place.is_outdated and ", changed" or comment.is_sent and ", untouched" or ""
  local text = require("claude-code.lib.text").visible((comment.text:gsub("%s+", " ")))
  return {
    filename = comment.path,
    lnum = place.first,
    end_lnum = place.last,
    text = ("%s%s  %s"):format(state, lines, text),
    user_data = { claude_code_comment = comment.id },
  }
end

---Lists all comments in the quickfix window, oldest first.
local function show()
  local items = vim.tbl_map(list_item, store.all)
  local is_ours = vim.fn.getqflist({ title = 0 }).title == TITLE
  if #items == 0 and not is_ours then
    return notify.info("there is no comment; :Claude comment makes one", "send")
  end
  vim.fn.setqflist({}, is_ours and "r" or " ", { title = TITLE, items = items })
  vim.cmd.copen({ mods = { split = "botright" } })
end

---Deletes the comments in rows of the list.
local function delete(first, last)
  local ids = {}
  for _, one in ipairs(vim.list_slice(vim.fn.getqflist(), first, last)) do
    ids[type(one.user_data) == "table" and one.user_data.claude_code_comment or ""] = true
  end
  local changes = {}
  for _, comment in ipairs(store.all) do
    changes[#changes + 1] = ids[comment.id] and store.change(comment, "deleted") or nil
  end
  if #changes == 0 then
    return notify.warn("go to the list to delete comments: :Claude comment list")
  end
  store.save(changes, show)
end

---@param args claude-code.CommandArgs
function M.command(args)
  if args.bang and args.args == "" and args.range == 0 then
    return send_all()
  elseif args.args == "list" and args.range == 0 then
    return show()
  elseif args.args == "delete" and vim.bo.buftype == "quickfix" then
    return delete(args.line1, args.line2)
  end
  local buf, first, last =
    reviews.current().list:lines(args.range > 0 and { args.line1, args.line2 } or nil)
  if buffers.base_file(buf) and not api.nvim_buf_is_loaded(buf) then
    return notify.warn("show the deleted file to comment on its lines")
  end
  vim.fn.bufload(buf)
  -- The text of a deleted file is in one of our buffers.
  local name = buffers.base_file(buf) or path.of_buffer(buf)
  if not name and vim.b[buf].claude_code_plan then
    notify.warn("gC comments on a line of a plan")
  elseif not name then
    notify.warn("this buffer is not a file; go to one to comment on its lines")
  elseif not require("claude-code.context.send").refuse_private(buf) then
    local lines = store.snippet(api.nvim_buf_get_lines(buf, first - 1, last, false))
    local rows = { first, last - first + 1 }
    local new = { state = "open", path = path.real(name), rows = rows, lines = lines }
    comment_on(new, M.at(buf, first), args)
  end
end

return M
