--- The keys of a review, in its files and in its quickfix window only. `review.keys` names them.
local api, fn = vim.api, vim.fn
local beside = require("claude-code.editor.review.beside")
local buffers = require("claude-code.editor.review.buffer")
local cursor = require("claude-code.editor.review.cursor")
local decide = require("claude-code.editor.review.decide")
local hunk_keys = require("claude-code.editor.changes.keys")
local notify = require("claude-code.messages.notify")
local path = require("claude-code.editor.documents.path")
local channel = require("claude-code.server.channel")
local reviews = require("claude-code.editor.review.review")
local task = require("claude-code.lib.task")
local text = require("claude-code.editor.review.text")
local visible = require("claude-code.lib.text").visible

local M = {}

local function target(mode)
  local row, count = fn.line("."), vim.v.count1
  if mode ~= "x" and count > 1 and reviews.current().list:has_cursor() then
    return { range = { row, row + count - 1 } }
  elseif mode ~= "x" then
    return { count = count }
  end
  local rows = { fn.line("v"), fn.line(".") }
  table.sort(rows)
  api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
  return { range = rows }
end

---@param owners claude-code.ReviewOwner[] the last one is shown first
local function show_owners(owners)
  local lines, names = {}, require("claude-code.sessions.label").by_conversation() or {}
  local function add(label, value)
    for i, line in ipairs(vim.split(vim.trim(value or ""), "\n")) do
      if line ~= "" then
        lines[#lines + 1] = ("  %-9s%s"):format(i == 1 and label or "", visible(line))
      end
    end
  end
  for i = #owners, 1, -1 do
    local owner = owners[i]
    local agent = owner.agent and " in a subagent" or ""
    local time = os.date("%Y-%m-%d %H:%M:%S", math.floor(owner.at / 1000))
    lines[#lines + 1] = #lines > 0 and "" or nil
    lines[#lines + 1] = ("%s%s, %s"):format(visible(owner.tool), agent, time)
    add("prompt", owner.prompt)
    add("command", owner.command)
    local session = names[owner.session] or owner.session
    add("session", owner.turn and ("%s, turn %d"):format(session, owner.turn) or session)
  end
  require("claude-code.messages.float").open("Why this changed", lines)
end

---Shows who changed the line under the cursor, or that of the entry in the quickfix window.
function M.why()
  local buf, row = reviews.current().list:lines()
  local file = path.of_buffer(buf) or buffers.base_file(buf)
  if not file then
    return notify.warn("this buffer shows no file")
  end
  local params =
    { path = file, row = row, text = api.nvim_buf_is_loaded(buf) and text.of(buf) or nil }
  channel.ask("review/why", params, function(value)
    if not value or #value.owners == 0 then
      notify.info("Claude changed nothing in this line, as far as it was recorded")
    else
      show_owners(value.owners)
    end
  end)
end

local function moves(method, step)
  return function()
    local count = vim.v.count1
    decide.move(function()
      for _ = 1, count do
        cursor[method](reviews.current(), step)
      end
    end)
  end
end

local function comment(mode)
  local chosen, row = target(mode), fn.line(".")
  local range = chosen.range or { row, math.min(row + chosen.count - 1, fn.line("$")) }
  vim.cmd.Claude({ args = { "comment" }, range = range })
end

---@param is_whole? boolean all of the file, or of those whose entries are selected
local function decides(method, is_whole)
  return function(mode)
    local chosen = target(mode)
    if is_whole and (chosen.count or 1) > 1 then
      return notify.warn("a count is about the changes of one file, not about files")
    end
    chosen.whole = is_whole
    decide.decide(method, chosen)
  end
end

---Asks about all hunks that change the same words as the one under the cursor, and decides about them at once.
function M.alike()
  local scope, subject = reviews.current().scope, decide.subject_of({})
  task.run(function()
    local choice = (decide.choices_of(subject) or {})[1]
    local id = choice and (choice.hunks or {})[1]
    local params = { path = choice and choice.path, hunk = id, texts = text.unsaved() }
    local found = id and channel.await("review/alike", vim.tbl_extend("error", params, scope))
    if not found then
      local problem = choice and "only a hunk of a changed file has lines to compare"
      return notify.warn(problem or "no hunk by Claude is waiting for review here")
    end
    vim.ui.select({ "keep", "undo" }, { prompt = found.question }, function(method)
      -- The queue does not wait for the user.
      return method
        and decide.enqueue(function()
          decide.send(method, vim.tbl_extend("error", { files = found.files }, scope), subject)
        end)
    end)
  end)
end

---Pickers that can show the quickfix list. Snacks passes over a window that shows the text of a deleted file.
local PICKERS = {
  { "snacks", "snacks.picker", "qflist", { main = { current = true } } },
  { "telescope", "telescope.builtin", "quickfix" },
  { "fzf-lua", "fzf-lua", "quickfix" },
}

---Shows the list of hunks in another plugin's picker.
---@param name? string the first one that is installed if left out
function M.pick(name)
  local named = vim.tbl_filter(function(one)
    return one[1] == (name or one[1])
  end, PICKERS)
  local found = vim.iter(named):find(function(one)
    return pcall(require, one[2])
  end)
  if #named == 0 then
    return notify.warn(("no such picker: %s (snacks, telescope, fzf-lua)"):format(name))
  elseif not found then
    local words = name and name .. " is not installed"
    return notify.warn(words or "no picker is installed: snacks, telescope or fzf-lua")
  elseif not reviews.current().is_open then
    reviews.open({ scope = "unreviewed" }, true, M.all(), false)
  end
  task.run(function()
    local review = reviews.current()
    if review.list.is_by_file then
      review.list:change_form()
    end
    review:refresh()
    if review.is_open then
      api.nvim_set_current_win(require("claude-code.editor.windows").for_file() or 0)
      vim.schedule(function()
        require(found[2])[found[3]](found[4])
      end)
    end
  end)
end

local BOTH = { "n", "x" }

---@type table<string, claude-code.KeyAction>
local ACTIONS = {
  keep = { run = decides("keep"), modes = BOTH, is_repeated = true },
  undo = { run = decides("undo"), modes = BOTH, is_repeated = true },
  next_hunk = { run = moves("hunk", 1) },
  previous_hunk = { run = moves("hunk", -1) },
  next_file = { run = moves("file", 1) },
  previous_file = { run = moves("file", -1) },
  keep_file = { run = decides("keep", true), modes = BOTH },
  undo_file = { run = decides("undo", true), modes = BOTH },
  back = {
    run = function()
      for _ = 1, vim.v.count1 do
        decide.back()
      end
    end,
  },
  why = { run = M.why },
  turn = {
    run = function()
      require("claude-code.editor.review.turns").toggle()
    end,
  },
  done = { run = decide.done },
  comment = { run = comment, modes = BOTH },
  layout = {
    run = function()
      beside.toggle(reviews.current())
    end,
  },
  alike = { run = M.alike },
  form = {
    run = function()
      reviews.current().list:change_form()
      reviews.refresh()
    end,
  },
  help = {
    run = function()
      hunk_keys.show("Keys of a review", M.all())
    end,
  },
}

---@return claude-code.Key[]
function M.all()
  return hunk_keys.entries("review", ACTIONS)
end

return M
