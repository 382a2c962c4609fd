--- Comments reach Claude as a text of the user's own: pasted into its prompt in this Neovim, or, for a
--- CLI elsewhere, as a mention of a resource that it reads when the user submits the prompt.
local columns = require("claude-code.editor.columns")
local counted = require("claude-code.lib.counted")
local notify = require("claude-code.messages.notify")
local store = require("claude-code.editor.review.comments.store")

---As the CLI names the resource of src/ide/server.ts.
local RESOURCE = "ide:review:comments"
---More of a comment's lines are not quoted.
local MOST_QUOTED = 10
local MOST_CHARACTERS = 300

local M = {}

---@return claude-code.ReviewComment[]
local function waiting()
  local privacy = require("claude-code.editor.privacy")
  return vim.tbl_filter(function(comment)
    return not privacy.is_private(comment.path)
  end, store.waiting())
end

local function quoted(lines)
  local quotes = {}
  for i, line in ipairs(vim.list_slice(lines, 1, MOST_QUOTED)) do
    quotes[i] = "   > " .. line:sub(1, columns.to_byte(line, MOST_CHARACTERS, "utf-32"))
  end
  if #lines > MOST_QUOTED then
    quotes[#quotes + 1] = "   > …"
  end
  return quotes
end

---@param number integer
---@param comment claude-code.ReviewComment
local function item(number, comment)
  local place, lines = store.place(comment)
  local rows = place.last > place.first and ("%d-%d"):format(place.first, place.last)
    or tostring(place.first)
  local name = vim.fn.fnamemodify(comment.path, ":.")
  local outdated = place.is_outdated and " (these lines have changed since)" or ""
  local text = comment.text:gsub("\n", "\n   ")
  return vim.list_extend(
    { ("%d. %s:%s%s: %s"):format(number, name, rows, outdated, text) },
    quoted(lines)
  )
end

---@param comments claude-code.ReviewComment[]
local function message(comments)
  local lines = { "My comments on these lines:" }
  for number, comment in ipairs(comments) do
    lines[#lines + 1] = ""
    vim.list_extend(lines, item(number, comment))
  end
  return table.concat(lines, "\n")
end

---@param comments claude-code.ReviewComment[]
local function mark_sent(comments)
  store.save(vim.tbl_map(function(comment)
    -- Before it counts as sent: then its mark says no longer where it stands.
    local change = store.change(comment, "sent")
    comment.is_sent = true
    return change
  end, comments))
end

---The text of all that wait; they count as sent. The executable asks for it when a CLI reads the
---resource.
---@return string
function M.take()
  local comments = waiting()
  if #comments == 0 then
    return "The user has no comments that you have not received."
  end
  local text = message(comments)
  mark_sent(comments)
  notify.info(counted.of(#comments, "comment") .. " sent to Claude", "send")
  return text
end

local function mention()
  if #require("claude-code.server").clients == 0 then
    local words =
      "no Claude runs, so your comments wait; :Claude starts it, :Claude comment! sends them then"
    return notify.warn(words)
  end
  local target = { path = RESOURCE, label = "your comments" }
  local accepted, problem = require("claude-code.context.mention").add({ target })
  if not accepted then
    notify.warn(problem --[[@as string]])
  else
    notify.info(
      "Claude runs outside of this Neovim: press Enter in its prompt to send your comments",
      "send"
    )
  end
end

---Sends all that wait.
---@param submit boolean
function M.all(submit)
  local comments = waiting()
  if #comments == 0 then
    return notify.warn("there is no comment to send; :Claude comment makes one")
  end
  local prompt = require("claude-code.terminal.prompt")
  if prompt.refuse_while_asking("your comments") then
    return
  elseif prompt.paste(message(comments), submit, nil, counted.of(#comments, "comment")) then
    mark_sent(comments)
  else
    mention()
  end
end

return M
