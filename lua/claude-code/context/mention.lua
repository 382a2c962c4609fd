--- Mentions: files and lines that the user sends to Claude's prompt. They wait up to a minute for a client to receive
--- them.
local api, fn = vim.api, vim.fn
local path = require("claude-code.editor.documents.path")
local notify = require("claude-code.messages.notify")

---@class claude-code.MentionTarget
---@field path string absolute; symlinks in its folder are resolved, since the CLI compares real folders
---@field line_start? integer 0-based, only with line_end
---@field line_end? integer 0-based, included
---@field label? string name for messages, if it is not a file

---A path, or lines of a file (1-based, `last` included and `first` by default).
---@alias claude-code.MentionItem string|{ path: string, first?: integer, last?: integer }

---@return integer? first 1-based; nil if no lines were chosen
---@return integer? last
local function chosen_lines(args)
  if args.range > 0 then
    return args.line1, args.line2
  elseif api.nvim_get_mode().mode:find("^[vV\22sS\19]") then
    -- A <Cmd> mapping does not end visual mode, and has no range.
    local a, b = fn.line("v"), fn.line(".")
    return math.min(a, b), math.max(a, b)
  end
end

local function with_real_folder(name)
  local full = path.normal(name)
  local parent, base = full:match("^(.*)/([^/]+)$")
  return parent and vim.fs.joinpath(path.real(parent .. "/"), base) or full
end

local function problem_with(name, item, first, last)
  local privacy = require("claude-code.editor.privacy")
  local stat, short = vim.uv.fs_stat(name), path.title(name)
  if last and not (first and first >= 1 and last >= first) then
    local text = "%s: lines %s to %s cannot be mentioned; count them from 1, the first one first"
    return text:format(item.path, tostring(first), tostring(last))
  elseif privacy.is_private(name) then
    return privacy.refusal(name)
  elseif not stat then
    return short .. " is not on disk; save it first, because Claude reads the file there"
  elseif stat.type ~= "file" and stat.type ~= "directory" then
    return ("%s is not a regular file (%s)"):format(short, stat.type)
  elseif vim.list_contains(require("claude-code.lib.workspace").folders(), name) then
    return short .. " is the workspace itself, which Claude already knows"
  end
end

---@return claude-code.MentionTarget[] targets in the order of the items
---@return string[] problems a sentence for each item that cannot be mentioned
local function of_items(items)
  local targets, problems = {}, {}
  for _, item in ipairs(items) do
    item = type(item) == "table" and item or { path = item }
    local name, first, last = with_real_folder(item.path), item.first, item.last or item.first
    local problem = problem_with(name, item, first, last)
    if problem then
      problems[#problems + 1] = problem
    else
      local target = { path = name, line_start = first and first - 1, line_end = last and last - 1 }
      targets[#targets + 1] = target
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

---Vim does not understand quotes, but a name may begin with a quote, too.
local function words(args)
  local is_quoted = vim.iter(args.fargs):any(function(word)
    return word:find("^[\"']") ~= nil and not vim.uv.fs_stat(word)
  end)
  return is_quoted and require("claude-code.lib.text").words(args.args) or args.fargs
end

---Expands `%` and the like as Neovim's own commands do, then wildcards, `~` and the backslashes of completion.
local function expanded(word)
  local is_literal = vim.uv.fs_stat(word) or word:find("`", 1, true)
  local name = is_literal and word or fn.expandcmd(word)
  if vim.uv.fs_stat(name) then
    return { name }
  elseif name:find("`", 1, true) then
    -- glob() would run text between backticks.
    return { (name:gsub("\\(%p)", "%1")) }
  end
  local found = fn.glob(name, true, true)
  return #found > 0 and found or { name }
end

---The words are files and folders, or a file and its first and perhaps last line. A file's name may be a number.
local function from_words(list)
  local first, last = tonumber(list[2]), tonumber(list[3])
  local has_lines = #list == (last and 3 or 2) and first and not vim.uv.fs_stat(list[2])
  if not has_lines then
    return of_items(vim.iter(list):map(expanded):flatten():totable())
  end
  return of_items(vim.tbl_map(function(name)
    return { path = name, first = first, last = last }
  end, expanded(list[1])))
end

local function of_command(args)
  if #args.fargs > 0 and args.range > 0 then
    return {}, { "a range means lines of the current file; leave out the range, or the paths" }
  elseif #args.fargs > 0 then
    return from_words(words(args))
  end
  local buf = api.nvim_get_current_buf()
  local first, last = chosen_lines(args)
  local paths = require("claude-code.explorers").of_buffer(buf)
  local name = path.of_buffer(buf)
  if paths then
    return from_explorer(paths, buf, first, last)
  elseif not name then
    return {}, { "this buffer is not a file; go to one, or name one: :Claude mention PATH" }
  end
  return of_items({ { path = name, first = first, last = last } })
end

---@class claude-code.WaitingMention: claude-code.MentionTarget
---@field id integer
---@field announced boolean a message said that it waits

local M = { WAIT_MS = 60000 }

local waiting = {} ---@type table<integer, claude-code.WaitingMention> by their ids
local last_id = 0

---@return claude-code.WaitingMention[] taken the ones that were still waiting
local function take(ids)
  local taken = {}
  for _, id in ipairs(ids) do
    taken[#taken + 1] = waiting[id]
    waiting[id] = nil
  end
  return taken
end

local function with_lines(text, mention)
  if not mention.line_start then
    return text
  elseif mention.line_start == mention.line_end then
    return ("%s#L%d"):format(text, mention.line_start + 1)
  end
  return ("%s#L%d-%d"):format(text, mention.line_start + 1, mention.line_end + 1)
end

---@return string labels as in the prompt
local function labels(mentions)
  local first = with_lines(mentions[1].label or path.base(mentions[1].path), mentions[1])
  return #mentions == 1 and first or ("%s and %d more"):format(first, #mentions - 1)
end

local function send(mention)
  require("claude-code.server.channel").notify("mention", {
    id = mention.id,
    path = mention.path,
    line_start = mention.line_start,
    line_end = mention.line_end,
    pid = require("claude-code.terminal.prompt").current_pid(),
  })
end

local function expire(ids)
  local expired = take(ids)
  if #expired > 0 then
    require("claude-code.server.channel").notify("mentions_withdrawn", { ids = ids })
    local text = "Claude did not connect in time, so %s was dropped; start claude, or type /ide there, "
      .. "and try again"
    notify.warn(text:format(labels(expired)))
  end
end

---@type table<claude-code.ServerState, string>
local SERVER_PROBLEMS = {
  stopped = "you stopped the server; :Claude starts it again",
  failed = "the server is not running; :Claude status shows why",
}

local function warn_if_unsaved(targets)
  for _, target in ipairs(targets) do
    local buf = path.loaded_buffer(target.path)
    if buf and vim.bo[buf].modified then
      notify.warn(path.base(target.path) .. " has unsaved changes; Claude reads the file on disk")
      return
    end
  end
end

--- The CLI (2.1.330) adds no quotes to the name in a mention, and then does not find a file that needs them. In a
--- terminal of this Neovim the plugin can paste the quoted name.
---@return string? text nil if no name needs quotes, or no CLI runs in such a terminal
local function quoted(targets)
  local n = require("claude-code.terminal.running").current()
  local row = n and require("claude-code.sessions").get(n) or {}
  local cwd = (row.cwd or "") .. "/"
  local names = vim.tbl_map(function(target)
    local name = vim.startswith(target.path, cwd) and target.path:sub(#cwd + 1) or target.path
    return require("claude-code.lib.text").mention(with_lines(name, target))
  end, targets)
  local is_needed = vim.iter(names):any(function(name)
    return vim.startswith(name, '@"')
  end)
  local is_there = is_needed and require("claude-code.terminal.prompt").is_there()
  return is_there and " " .. table.concat(names, " ") .. " " or nil
end

---Sends files to Claude's prompt, in this order.
---@return boolean accepted, string? problem
function M.add(targets)
  local prompt, pasted = require("claude-code.terminal.prompt"), quoted(targets)
  if pasted then
    return prompt.send(pasted, { name = "your mention" }, function(is_sent)
      if is_sent then
        warn_if_unsaved(targets)
      end
    end)
  end
  local server = require("claude-code.server")
  server.ensure()
  local problem = SERVER_PROBLEMS[server.state]
  if problem then
    return false, problem
  end
  local is_alone, ids = #server.clients == 0, {}
  for i, target in ipairs(targets) do
    last_id = last_id + 1
    ids[i] = last_id
    waiting[last_id] = vim.tbl_extend("error", target, { id = last_id, announced = is_alone })
    send(waiting[last_id])
  end
  require("claude-code.lib.timer").once(M.WAIT_MS, function()
    expire(ids)
  end)
  if is_alone then
    local is_one = #targets == 1 and not targets[1].label
    local text = "%s %s for Claude to connect (at most %d s)"
    notify.info(text:format(labels(targets), is_one and "waits" or "wait", M.WAIT_MS / 1000))
  else
    warn_if_unsaved(targets)
    prompt.focus_after_send()
  end
  return true
end

local function add_valid(targets, problems)
  local accepted, problem = true, nil
  if #targets > 0 then
    accepted, problem = M.add(targets)
  end
  problems = vim.list_extend({ problem }, problems)
  return accepted and #problems == 0, problems[1] and table.concat(problems, "; ")
end

---For `require("claude-code").mention()`.
---@param items claude-code.MentionItem|claude-code.MentionItem[]
---@return boolean accepted all items
---@return string? problem
function M.items(items)
  local list = type(items) == "table" and vim.islist(items) and items or { items }
  if #list == 0 then
    return false, "there is nothing to mention: the list of paths is empty"
  end
  return add_valid(of_items(list))
end

---`:Claude mention`
function M.command(args)
  local _, problem = add_valid(of_command(args))
  if problem then
    notify.error(problem)
  end
end

---A client has received mentions. A message reports mentions that waited, and which of several sessions has them.
---@param params { ids: integer[], pid?: integer } `pid` is the client's
function M.delivered(params)
  local delivered = take(params.ids)
  local announced = vim.tbl_filter(function(mention)
    return mention.announced
  end, delivered)
  local whom = params.pid and require("claude-code.terminal.prompt").label(params.pid)
  if whom and #delivered > 0 then
    notify.info(("%s has %s in its prompt"):format(whom, labels(delivered)), "send")
  elseif #announced > 0 then
    notify.info(("Claude is connected and has %s in its prompt"):format(labels(announced)))
  end
end

---A new executable receives the mentions that the previous one did not deliver.
function M.on_attach()
  for _, mention in vim.spairs(waiting) do
    send(mention)
  end
end

return M
