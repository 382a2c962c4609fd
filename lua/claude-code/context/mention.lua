--- Mentions: files and lines that the user sends to Claude's prompt. They wait here until the
--- executable reports that a client has received them, a minute at most.
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

---More than a prompt can use: a user who sends so many without a client needs to know.
local MOST = 50

---@class claude-code.WaitingMention: claude-code.MentionTarget
---@field id integer
---@field until_ms number when it is dropped, in vim.uv.now()'s time
---@field announced boolean the user knows that it waits

local M = {
  ---A mention waits for a client this long.
  WAIT_MS = 60000,
}

---@type { waiting: claude-code.WaitingMention[], last_id: integer } `waiting`: the oldest first
local queue = { waiting = {}, last_id = 0 }

---@param is_over fun(mention: claude-code.WaitingMention): boolean
---@return claude-code.WaitingMention[] those that wait no longer
local function remove(is_over)
  local removed = vim.tbl_filter(is_over, queue.waiting)
  queue.waiting = vim.tbl_filter(function(mention)
    return not vim.list_contains(removed, mention)
  end, queue.waiting)
  return removed
end

---@param mention claude-code.MentionTarget
---@return string as it will look in the prompt, unless it has a label
local function label(mention)
  local text = mention.label or path.base(mention.path)
  if not mention.line_start then
    return text
  elseif mention.line_start == mention.line_end then
    return ("%s#L%d"):format(text, mention.line_start + 1)
  end
  return ("%s#L%d-%d"):format(text, mention.line_start + 1, mention.line_end + 1)
end

---@param mentions claude-code.MentionTarget[]
local function labels(mentions)
  local first = label(mentions[1])
  return #mentions == 1 and first or ("%s and %d more"):format(first, #mentions - 1)
end

---@param mention claude-code.WaitingMention
local function send(mention)
  require("claude-code.server.channel").notify("mention", {
    id = mention.id,
    path = mention.path,
    line_start = mention.line_start,
    line_end = mention.line_end,
    pid = require("claude-code.terminal.clients").current_pid(),
  })
end

---Drops what has waited too long.
local function expire()
  local expired = remove(function(mention)
    return mention.until_ms <= vim.uv.now()
  end)
  if #expired > 0 then
    local ids = vim.tbl_map(function(mention)
      return mention.id
    end, expired)
    require("claude-code.server.channel").notify("mentions_withdrawn", { ids = ids })
    local text = "Claude did not connect in time, so %s was dropped; start claude, or type /ide in it, "
      .. "and try again"
    notify.warn(text:format(labels(expired)))
  end
end

---@return string? problem why no client can receive a mention
local function problem_with_server()
  local server = require("claude-code.server")
  if server.state == "stopped" then
    return "you stopped the server; :Claude starts it again"
  elseif server.state == "failed" then
    return "the server is not running; :Claude status shows why"
  end
end

---@param targets claude-code.MentionTarget[]
local function warn_if_unsaved(targets)
  for _, target in ipairs(targets) do
    local buf = path.loaded_buffer(target.path)
    if buf and vim.bo[buf].modified then
      notify.warn(path.base(target.path) .. " has unsaved changes; Claude reads the file on disk")
      return
    end
  end
end

---Sends files to Claude's prompt, in this order.
---@param targets claude-code.MentionTarget[]
---@return boolean accepted
---@return string? problem
function M.add(targets)
  -- As :Claude does, except that a server that the user stopped stays so.
  require("claude-code.server").ensure()
  local problem = problem_with_server()
  if not problem and #queue.waiting + #targets > MOST then
    problem = ("%d mentions are waiting for Claude already; connect it first"):format(
      #queue.waiting
    )
  end
  if problem then
    return false, problem
  end
  local is_alone = #require("claude-code.server").clients == 0
  for _, target in ipairs(targets) do
    queue.last_id = queue.last_id + 1
    local mention = vim.tbl_extend("error", target, {
      id = queue.last_id,
      until_ms = vim.uv.now() + M.WAIT_MS,
      announced = is_alone,
    })
    queue.waiting[#queue.waiting + 1] = mention
    send(mention)
  end
  require("claude-code.lib.timer").once(M.WAIT_MS, expire)
  if is_alone then
    local is_one = #targets == 1 and not targets[1].label
    local text = "%s %s for Claude to connect (at most %d s)"
    notify.info(text:format(labels(targets), is_one and "waits" or "wait", M.WAIT_MS / 1000))
  else
    warn_if_unsaved(targets)
    require("claude-code.terminal.prompt").focus_after_send()
  end
  return true
end

---@param targets claude-code.MentionTarget[]
---@param problems string[]
---@return boolean accepted all of it
---@return string? problem
local function add_what_can_be(targets, problems)
  local accepted, problem = #targets > 0, nil
  if accepted then
    accepted, problem = M.add(targets)
  end
  problems = vim.list_extend({ problem }, problems)
  if #problems > 0 then
    return false, table.concat(problems, "; ")
  end
  return accepted
end

---For `require("claude-code").mention()`.
---@param items claude-code.MentionItem|claude-code.MentionItem[]
---@return boolean accepted all of it
---@return string? problem
function M.items(items)
  local list = type(items) == "table" and vim.islist(items) and items or { items }
  if #list == 0 then
    return false, "there is nothing to mention: the list of paths is empty"
  end
  return add_what_can_be(require("claude-code.context.mention_targets").of_items(list))
end

---`:Claude mention`
---@param args claude-code.CommandArgs
function M.command(args)
  local targets, problems = require("claude-code.context.mention_targets").of_command(args)
  local accepted, problem = add_what_can_be(targets, problems)
  if not accepted then
    notify.error(problem --[[@as string]])
  end
end

---A client has received them: reports what has waited, and with several sessions whose prompt has it.
---@param params { ids: integer[], pid?: integer } pid: the client's process
function M.delivered(params)
  local delivered = remove(function(mention)
    return vim.list_contains(params.ids, mention.id)
  end)
  local announced = vim.tbl_filter(function(mention)
    return mention.announced
  end, delivered)
  local whom = params.pid and require("claude-code.terminal.clients").label(params.pid)
  if whom and #delivered > 0 then
    notify.info(("%s has %s in its prompt"):format(whom, labels(delivered)), "send")
  elseif #announced > 0 then
    notify.info(("Claude is connected and has %s in its prompt"):format(labels(announced)))
  end
end

---Another executable has attached: it receives what the one before could not deliver.
function M.resume()
  for _, mention in ipairs(queue.waiting) do
    send(mention)
  end
end

return M
