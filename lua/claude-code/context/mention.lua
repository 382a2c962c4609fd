--- Mentions: files and lines that the user sends to Claude's prompt. They wait here until the
--- executable reports that a client has received them, a minute at most.
local api, fn = vim.api, vim.fn
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

---More than a prompt can use: a user who sends so many without a client needs to know.
local MOST = 50

---@class claude-code.MentionTarget
---@field path string absolute, symbolic links in its folder resolved: the CLI compares real folders
---@field line_start? integer 0-based, with line_end or not at all
---@field line_end? integer 0-based, included
---@field label? string how messages name it, where that is no file

---What users and explorers name: a path, or lines of it (1-based, `last` included; one line without it).
---@alias claude-code.MentionItem string|{ path: string, first?: integer, last?: integer }

---@return integer? first 1-based; nil if no lines were chosen
---@return integer? last
local function chosen_lines(args)
  if args.range > 0 then
    return args.line1, args.line2
  elseif api.nvim_get_mode().mode:find("^[vV\22sS\19]") then
    -- A mapping with <Cmd> leaves visual mode on, and gives no range.
    local a, b = fn.line("v"), fn.line(".")
    return math.min(a, b), math.max(a, b)
  end
end

local function with_real_folder(name)
  local full = path.normal(name)
  local parent, base = full:match("^(.*)/([^/]+)$")
  return parent and vim.fs.joinpath(path.real(parent == "" and "/" or parent), base) or full
end

---@param name string absolute
---@return string? problem a sentence
local function problem_with(name)
  local privacy = require("claude-code.editor.privacy")
  if privacy.is_private(name) then
    return privacy.refusal(name)
  end
  local stat, short = vim.uv.fs_stat(name), fn.fnamemodify(name, ":~:.")
  if not stat then
    return short .. " is not on disk; save it first, because Claude reads the file there"
  elseif stat.type ~= "file" and stat.type ~= "directory" then
    return ("%s is not a regular file (%s)"):format(short, stat.type)
  elseif vim.tbl_contains(require("claude-code.lib.workspace").folders(), name) then
    return short .. " is the workspace itself, which Claude already knows"
  end
end

---@param item { path: string, first?: integer, last?: integer }
---@return integer? line_start 0-based
---@return integer? line_end
---@return string? problem
local function lines_of(item)
  local first, last = item.first, item.last or item.first
  if not first and not last then
    return nil
  elseif not first or first < 1 or last < first then
    local text = "%s: lines %s to %s cannot be mentioned; count them from 1, the first one first"
    return nil, nil, text:format(item.path, tostring(first), tostring(last))
  end
  return first - 1, last - 1
end

---@return claude-code.MentionTarget[] targets in the order of the items
---@return string[] problems a sentence for each item that cannot be mentioned
local function of_items(items)
  local targets, problems = {}, {}
  for _, item in ipairs(items) do
    item = type(item) == "table" and item or { path = item }
    local name = with_real_folder(item.path)
    local line_start, line_end, problem = lines_of(item)
    problem = problem or problem_with(name)
    if problem then
      problems[#problems + 1] = problem
    else
      targets[#targets + 1] = { path = name, line_start = line_start, line_end = line_end }
    end
  end
  return targets, problems
end

local function from_explorer(paths, buf, first, last)
  local here = api.nvim_win_get_cursor(0)[1]
  local ok, items = pcall(paths, buf, first or here, last or here, first ~= nil)
  if not ok then
    return {}, { ("the %s list cannot be read: %s"):format(vim.bo[buf].filetype, items) }
  elseif #items == 0 then
    return {}, { "there is no file on this line; go to one that names a file" }
  end
  return of_items(items)
end

---@param first? integer 1-based
local function from_buffer(buf, first, last)
  local name = path.of_buffer(buf)
  if not name then
    return {}, { "this buffer is not a file; go to one, or name one: :Claude mention PATH" }
  end
  return of_items({ { path = name, first = first, last = last } })
end

---The words of the command. Vim does not split at quotes; a name may begin with one, too.
local function words(args)
  local is_quoted = vim.iter(args.fargs):any(function(word)
    return word:find("^[\"']") ~= nil and not vim.uv.fs_stat(word)
  end)
  return is_quoted and require("claude-code.terminal.shell_words").split(args.args) or args.fargs
end

---Expands `%` and the like, as Neovim does in its own commands, then wildcards, `~` and the backslashes of
---completion.
local function expanded(word)
  if vim.uv.fs_stat(word) then
    return { word }
  end
  local name = word:find("`", 1, true) and word or fn.expandcmd(word)
  if vim.uv.fs_stat(name) then
    return { name }
  elseif name:find("`", 1, true) then
    -- glob() would run what is between backticks.
    return { (name:gsub("\\(%p)", "%1")) }
  end
  local found = fn.glob(name, true, true)
  return #found > 0 and found or { name }
end

---What words name: files and folders; or one file, its first line and perhaps its last one, unless a number is
---a file's name.
local function from_words(list)
  local first, last = tonumber(list[2]), tonumber(list[3])
  local has_lines = #list == (last and 3 or 2) and first and not vim.uv.fs_stat(list[2])
  if not has_lines then
    return of_items(vim.iter(list):map(expanded):flatten():totable())
  end
  local items = vim.tbl_map(function(name)
    return { path = name, first = first, last = last }
  end, expanded(list[1]))
  return of_items(items)
end

local function of_command(args)
  if #args.fargs > 0 then
    if args.range > 0 then
      return {}, { "a range means lines of the current file; leave out the range, or the paths" }
    end
    return from_words(words(args))
  end
  local buf = api.nvim_get_current_buf()
  local first, last = chosen_lines(args)
  local paths = require("claude-code.explorers").of_buffer(buf)
  if paths then
    return from_explorer(paths, buf, first, last)
  end
  return from_buffer(buf, first, last)
end

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

local function labels(mentions)
  local first = label(mentions[1])
  return #mentions == 1 and first or ("%s and %d more"):format(first, #mentions - 1)
end

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
  return add_what_can_be(of_items(list))
end

---`:Claude mention`
---@param args claude-code.CommandArgs
function M.command(args)
  local targets, problems = of_command(args)
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
