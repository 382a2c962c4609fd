--- Claude's plan as a Markdown document in the user's window. The user edits it, comments on lines, and approves the
--- result or sends the comments. Claude's terminal asks as well, and the first answer counts.
local api = vim.api
local borrowing = require("claude-code.editor.windows.borrowed")
local buffers = require("claude-code.editor.diff.buffers")
local draw = require("claude-code.editor.changes.draw")
local focus = require("claude-code.editor.windows.focus")
local hunk_keys = require("claude-code.editor.changes.keys")
local hunks = require("claude-code.editor.changes.hunks")
local keyboard = require("claude-code.editor.input.keyboard")
local notify = require("claude-code.messages.notify")
local requests = require("claude-code.sessions.requests")
local terminal = require("claude-code.terminal.window")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

local M = {}

local NAMESPACE = api.nvim_create_namespace("claude-code.plan")
local CHANGES = api.nvim_create_namespace("claude-code.plan.changes")
--- Begins the window's bar.
local MARK = "%(%(%(%(%)%)%)%)"
--- Window options that we change in the plan's window.
local OPTIONS = { "conceallevel", "winbar" }

---@class claude-code.Plan
---@field request claude-code.PermissionRequest
---@field version integer of the plan
---@field before? string[] lines of the version before
---@field drawing? claude-code.Drawing of what is new
---@field buf integer
---@field comments table<integer, { text: string, line: string }> by extmark, with the line as it was
---@field guard claude-code.DecisionGuard
---@field window? claude-code.Borrowed while it is on screen
---@field origin? claude-code.Origin
---@field is_answered? boolean the user has answered here
---@field hidden? integer first line with a hidden character

local plans = {} ---@type table<integer, claude-code.Plan> by request
---The last plan of each conversation, by its id, unless the user has approved it here.
local versions = {} ---@type table<string, claude-code.Plan>

local function is_shown(plan)
  return plan.window ~= nil and windows.shows(plan.window.win, plan.buf)
end

--- Restores the window and the cursor.
local function finish(plan)
  terminal.take_back()
  plans[plan.request.id] = nil
  local has_cursor = is_shown(plan) and api.nvim_get_current_win() == plan.window.win
  if is_shown(plan) then
    winbar.hide(plan.window.win, MARK)
  end
  if plan.window then
    plan.window:finish(OPTIONS)
  end
  if has_cursor then
    focus.give_back(plan.origin, 0)
  end
  if api.nvim_buf_is_valid(plan.buf) then
    api.nvim_buf_delete(plan.buf, { force = true })
  end
end

local function send(plan, answer)
  plan.is_answered = true
  if answer.allow then
    versions[plan.request.conversation or ""] = nil
  end
  local ok, problem = requests.answer(plan.request.id, answer)
  plan.is_answered = ok
  if not ok then
    notify.warn(problem --[[@as string]])
  end
end

local WAYS = {
  { text = "Approve, and ask before each edit", mode = "default" },
  { text = "Approve, and let Claude edit without asking", mode = "acceptEdits" },
  { text = "Not yet" },
}

---@return string text by Claude
local function given(plan)
  return (plan.request.plan:gsub("\n$", ""))
end

---@return string text, boolean is_edited
local function now(plan)
  local text = table.concat(api.nvim_buf_get_lines(plan.buf, 0, -1, true), "\n")
  return text, text ~= given(plan)
end

local function approve(plan)
  local text, is_edited = now(plan)
  if not text:find("%S") then
    return notify.warn("the plan is empty: u restores its text, and q sends comments")
  end
  local prompt = is_edited and "The plan as you have edited it:" or "The plan:"
  require("claude-code.lib.choose")(prompt, WAYS, function(way)
    return way.text
  end, function(way)
    if way.mode then
      send(plan, { allow = true, mode = way.mode, plan = is_edited and text .. "\n" or nil })
    end
  end)
end

---@return string? text comments with their lines, and the edited plan
local function answer_of(plan)
  local text, is_edited = now(plan)
  local parts = {}
  for i, mark in ipairs(api.nvim_buf_get_extmarks(plan.buf, NAMESPACE, 0, -1, {})) do
    local comment = plan.comments[mark[1]]
    parts[i] = ('%d. on "%s": %s'):format(i, vim.trim(comment.line), comment.text)
  end
  if #parts > 0 then
    table.insert(parts, 1, "My comments on the plan:")
  end
  if is_edited and text:find("%S") then
    parts[#parts + 1] = "The plan as I would have it:\n\n" .. text
  end
  return #parts > 0 and table.concat(parts, "\n") or nil
end

--- Claude continues to plan with the comments and the edits, or else with a reason.
local function reject(plan)
  local answer = answer_of(plan)
  if answer then
    return send(plan, { allow = false, reason = answer })
  end
  vim.ui.input({ prompt = "What should Claude change in its plan? " }, function(reason)
    if reason and vim.trim(reason) ~= "" then
      send(plan, { allow = false, reason = reason })
    end
  end)
end

--- Asks for a comment on the cursor's line, or on the first selected line.
local function comment(plan)
  local row = math.min(vim.fn.line("."), vim.fn.line("v")) - 1
  -- Fed keys would answer the question.
  vim.cmd.normal({ vim.keycode("<Esc>"), bang = true })
  local line = api.nvim_buf_get_lines(plan.buf, row, row + 1, false)[1] or ""
  local known = api.nvim_buf_get_extmarks(plan.buf, NAMESPACE, { row, 0 }, { row, 0 }, {})[1]
  local before = known and plan.comments[known[1]].text or ""
  vim.ui.input({ prompt = "Comment: ", default = before }, function(text)
    if not text or not api.nvim_buf_is_valid(plan.buf) then
      return
    elseif known then
      api.nvim_buf_del_extmark(plan.buf, NAMESPACE, known[1])
    end
    if vim.trim(text) ~= "" then
      local id = api.nvim_buf_set_extmark(plan.buf, NAMESPACE, row, 0, {
        virt_lines = { { { "  ▏ " .. text, "ClaudeCodeNote" } } },
      })
      plan.comments[id] = { text = text, line = line }
    end
  end)
end

---@type { keys: string, desc: string, run: fun(plan: claude-code.Plan) }[]
local DECIDING = {
  { keys = "<CR>", desc = "Approve the plan", run = approve },
  { keys = "q", desc = "Send comments and edits of the plan", run = reject },
  { keys = "Q", desc = "Send comments and edits of the plan", run = reject },
}

---Fills the buffer, and draws what is new since the last version.
local function fill(plan)
  local lines, before = vim.split(given(plan), "\n"), plan.before
  buffers.fill(plan.buf, lines)
  local list = before and hunks.between(before, lines) or {}
  plan.drawing = draw.start(plan.buf, CHANGES, list, function(pen, hunk, style)
    local old_lines = vim.list_slice(before, hunk.old, hunk.old + hunk.old_count - 1)
    draw.inline(plan.buf, pen, vim.tbl_extend("force", hunk, { old_lines = old_lines }), style)
  end)
  local whole = { new = 1, new_count = #lines }
  plan.hidden = require("claude-code.editor.changes.hidden").show(plan.buf, { whole })
end

--- Leaving the plan decides nothing. If the user closed its window, the file takes its place.
local function on_left(plan)
  local left = plan.window
  plan.window, plan.origin = nil, nil
  terminal.take_back()
  vim.schedule(function()
    if left and vim.v.exiting == vim.NIL then
      left:finish(OPTIONS)
    end
    if plans[plan.request.id] and not is_shown(plan) then
      notify.info("the plan waits; :Claude answer shows it")
    end
  end)
end

local function new(request)
  local buf = api.nvim_create_buf(false, true)
  local plan = { request = request, buf = buf, comments = {}, guard = keyboard.guard("the plan") }
  local last = versions[request.conversation or ""]
  plan.version = (last and last.version or 0) + 1
  plan.before = last and vim.split(given(last), "\n")
  versions[request.conversation or ""] = request.conversation and plan
  fill(plan)
  local name = "claude-code://plan/" .. request.id
  api.nvim_buf_set_name(buf, name)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = "acwrite", "hide", false
  require("claude-code.editor.documents.parsing").set_filetype(buf, "markdown")
  vim.b[buf].claude_code_plan = true
  for _, entry in ipairs(DECIDING) do
    vim.keymap.set("n", entry.keys, function()
      plan.guard:decide(entry.keys, function()
        entry.run(plan)
      end)
    end, { buffer = buf, desc = entry.desc, nowait = true })
  end
  vim.keymap.set("n", "g?", function()
    local commenting = { keys = "gC", desc = "Comment on the lines" }
    hunk_keys.show("Keys of a plan", vim.list_extend({ commenting }, DECIDING))
  end, { buffer = buf, desc = "Show the keys of a plan", nowait = true })
  vim.keymap.set({ "n", "x" }, "gC", function()
    comment(plan)
  end, { buffer = buf, desc = "Comment on the line", nowait = true })
  local events = require("claude-code.lib.autocommands").new("plan." .. buf)
  plan.guard:follow(events, function()
    return api.nvim_get_current_buf() == buf
  end)
  events:on("BufWriteCmd", function(_, args)
    if args.match ~= name then
      return notify.error(
        "the plan cannot be written to a file; Claude receives it with your answer"
      )
    end
    vim.bo[buf].modified = false
    notify.info("this write decided nothing: <CR> approves the plan as it is here")
  end, { buffer = buf })
  events:on("BufWinLeave", function()
    on_left(plan)
  end, { buffer = buf })
  local on_unloaded = vim.schedule_wrap(function()
    -- `:edit!` unloads it, too.
    if not api.nvim_buf_is_loaded(buf) then
      events:stop()
      plans[request.id] = nil
      pcall(api.nvim_buf_delete, buf, { force = true })
    end
  end)
  events:on("BufUnload", on_unloaded, { buffer = buf })
  plans[request.id] = plan
  requests.on_end(request.id, function()
    events:stop()
    local left = not plan.is_answered and api.nvim_buf_is_loaded(buf) and answer_of(plan)
    finish(plan)
    if left then
      buffers.keep("the plan", vim.split(left, "\n"), "markdown", "Claude no longer asks")
    end
  end)
  return plan
end

local function show_bar(plan)
  local request = plan.request
  local name = require("claude-code.sessions.label").of({ n = request.session, pid = request.pid })
  local version = plan.version > 1 and (", version %d"):format(plan.version) or ""
  local parts = { { (" %s has a plan%s"):format(name, version), "ClaudeCodeBarFile" } }
  if plan.hidden then
    local words = ("  hidden characters, line %d"):format(plan.hidden)
    table.insert(parts, { words, "ClaudeCodeWarning" })
  end
  local hints = {
    { keys = { "g?" }, words = "help", is_needed = true },
    { keys = { "gC" }, words = "comment" },
    { keys = { "q" }, words = "send comments" },
    { keys = { "<CR>" }, words = "approve", is_needed = true },
  }
  local room = api.nvim_win_get_width(plan.window.win) - winbar.width(parts)
  vim.list_extend(parts, winbar.hints(hints, room))
  winbar.show(plan.window.win, MARK, winbar.render(parts))
end

---@param buf integer that Neovim has emptied (`:edit!`)
---@return boolean filled
function M.refill(buf)
  for _, plan in pairs(plans) do
    if plan.buf == buf then
      fill(plan)
      return true
    end
  end
  return false
end

--- Shows a plan in the user's window, and moves the cursor there.
---@param is_offered? boolean without a command of the user
function M.show(request, is_offered)
  local plan = plans[request.id] or new(request)
  if is_shown(plan) then
    return api.nvim_set_current_win(plan.window.win)
  end
  plan.origin = focus.origin()
  local win = windows.for_file()
  terminal.yield_to(win)
  plan.window = win and borrowing.take(win, plan.buf)
    or borrowing.new(windows.beside(plan.buf), plan.buf)
  plan.window:keep_place()
  vim.wo[plan.window.win][0].conceallevel = 0
  plan.guard:restart("appeared", not is_offered)
  show_bar(plan)
  focus.take(plan.window.win, plan.origin)
end

--- Shows a new plan once the user does not type, and windows may change.
---@param is_reported? boolean a message said that it waits
function M.offer(request, is_reported)
  if plans[request.id] or not requests.is_waiting(request.id) then
    return
  elseif focus.may_change() == "all" and not focus.is_busy() then
    return M.show(request, true)
  elseif not is_reported and focus.ms_until_idle() == 0 then
    is_reported = true
    notify.info("a plan waits until you are done here; :Claude answer shows it", "plan")
  end
  require("claude-code.editor.input.blocked").retry(function()
    M.offer(request, is_reported)
  end)
end

return M
