--- A plan of Claude's as a Markdown document in the user's window: they edit it, comment on lines, and approve what
--- stands there then, or send the comments. Claude's terminal asks as well; whoever answers first decides.
local api = vim.api
local focus = require("claude-code.editor.windows.focus")
local highlights = require("claude-code.editor.hunks.highlights")
local notify = require("claude-code.messages.notify")
local requests = require("claude-code.sessions.requests")
local when = require("claude-code.editor.diff.when")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

local M = {}

local NAMESPACE = api.nvim_create_namespace("claude-code.plan")
--- Begins the window's bar.
local MARK = "%(%(%(%(%)%)%)%)"

---@class claude-code.Plan
---@field request claude-code.PermissionRequest
---@field buf integer
---@field comments table<integer, string> by their extmarks
---@field guard? claude-code.DecisionGuard
---@field borrowed? claude-code.BorrowedWindow nil: its window is a new one
---@field win? integer
---@field origin? claude-code.Origin

---@type table<integer, claude-code.Plan> by their requests
local plans = {}

---@param plan claude-code.Plan
local function text_of(plan)
  return table.concat(api.nvim_buf_get_lines(plan.buf, 0, -1, true), "\n")
end

--- Gives the window back, and the cursor to where it was.
---@param plan claude-code.Plan
local function hide(plan)
  local win, origin = plan.win, plan.origin
  plan.win, plan.origin = nil, nil
  if not win or not api.nvim_win_is_valid(win) or api.nvim_win_get_buf(win) ~= plan.buf then
    return
  end
  local has_cursor = api.nvim_get_current_win() == win
  winbar.hide(win, MARK)
  if plan.borrowed then
    windows.give_back(plan.borrowed, win)
  else
    windows.close(win)
  end
  if has_cursor and origin then
    focus.give_back(origin, 0)
  end
end

---@param plan claude-code.Plan
local function finish(plan)
  plans[plan.request.id] = nil
  hide(plan)
  if api.nvim_buf_is_valid(plan.buf) then
    api.nvim_buf_delete(plan.buf, { force = true })
  end
end

---@param plan claude-code.Plan
---@param answer claude-code.PermissionAnswer
local function send(plan, answer)
  local ok, problem = requests.answer(plan.request.id, answer)
  if not ok then
    notify.warn(problem --[[@as string]])
  end
end

local WAYS = {
  { text = "Approve, and ask before each edit", mode = "default" },
  { text = "Approve, and accept edits by itself", mode = "acceptEdits" },
  { text = "Not yet" },
}

---@param plan claude-code.Plan
local function approve(plan)
  local text = text_of(plan)
  local is_edited = text ~= plan.request.plan:gsub("\n$", "")
  local prompt = is_edited and "The plan as you have edited it:" or "The plan:"
  vim.ui.select(WAYS, {
    prompt = prompt,
    format_item = function(way)
      return way.text
    end,
  }, function(way)
    if way and way.mode then
      send(plan, { allow = true, mode = way.mode, plan = is_edited and text .. "\n" or nil })
    end
  end)
end

---@param plan claude-code.Plan
---@return string? text of the comments with the lines that they are about
local function comments_of(plan)
  local parts = {}
  for _, mark in ipairs(api.nvim_buf_get_extmarks(plan.buf, NAMESPACE, 0, -1, {})) do
    local line = api.nvim_buf_get_lines(plan.buf, mark[2], mark[2] + 1, false)[1] or ""
    local text = ("%d. line %d (%s): %s"):format(
      #parts + 1,
      mark[2] + 1,
      vim.trim(line),
      plan.comments[mark[1]]
    )
    parts[#parts + 1] = text
  end
  return #parts > 0 and "My comments on the plan:\n" .. table.concat(parts, "\n") or nil
end

--- Claude receives the comments, or else a reason, and goes on planning.
---@param plan claude-code.Plan
local function reject(plan)
  local comments = comments_of(plan)
  if comments then
    return send(plan, { allow = false, reason = comments })
  end
  vim.ui.input({ prompt = "What should Claude change in its plan? " }, function(reason)
    if reason and vim.trim(reason) ~= "" then
      send(plan, { allow = false, reason = reason })
    end
  end)
end

---@param plan claude-code.Plan
local function comment(plan)
  local row = api.nvim_win_get_cursor(0)[1] - 1
  local known = api.nvim_buf_get_extmarks(plan.buf, NAMESPACE, { row, 0 }, { row, 0 }, {})[1]
  local before = known and plan.comments[known[1]] or ""
  vim.ui.input({ prompt = "Comment: ", default = before }, function(text)
    if not text or not api.nvim_buf_is_valid(plan.buf) then
      return
    elseif known then
      api.nvim_buf_del_extmark(plan.buf, NAMESPACE, known[1])
    end
    if vim.trim(text) ~= "" then
      local id = api.nvim_buf_set_extmark(plan.buf, NAMESPACE, row, 0, {
        virt_lines = { { { "  ▏ " .. text, highlights.name("Note") } } },
      })
      plan.comments[id] = text
    end
  end)
end

---@type { key: string, desc: string, run: fun(plan: claude-code.Plan) }[]
local KEYS = {
  { key = "<CR>", desc = "Approve the plan", run = approve },
  { key = "q", desc = "Send comments on the plan", run = reject },
  { key = "Q", desc = "Send comments on the plan", run = reject },
  { key = "gC", desc = "Comment on the line", run = comment },
}

---@param request claude-code.PermissionRequest
---@return claude-code.Plan
local function new(request)
  local buf = api.nvim_create_buf(false, true)
  local plan = { request = request, buf = buf, comments = {} }
  local text = request.plan:gsub("\n$", "")
  api.nvim_buf_set_lines(buf, 0, -1, true, vim.split(text, "\n"))
  api.nvim_buf_set_name(buf, "claude-code://plan/" .. request.id)
  vim.bo[buf].buftype, vim.bo[buf].bufhidden, vim.bo[buf].swapfile = "acwrite", "hide", false
  vim.bo[buf].modified, vim.bo[buf].filetype = false, "markdown"
  for _, entry in ipairs(KEYS) do
    vim.keymap.set("n", entry.key, function()
      plan.guard:decide(entry.key, function()
        entry.run(plan)
      end)
    end, { buffer = buf, desc = entry.desc, nowait = true })
  end
  local events = require("claude-code.lib.autocommands").new("plan." .. buf)
  events:on("BufWriteCmd", function()
    vim.bo[buf].modified = false
    notify.info("this write decided nothing: <CR> approves the plan as it stands here")
  end, { buffer = buf })
  plans[request.id] = plan
  requests.on_end(request.id, function()
    events:stop()
    finish(plan)
  end)
  return plan
end

---@param plan claude-code.Plan
local function show_bar(plan)
  local name =
    require("claude-code.sessions.label").of({ n = plan.request.session, pid = plan.request.pid })
  local parts = { { " " .. name .. " has a plan", "File" } }
  local hints = {
    { keys = { "gC" }, words = "comment" },
    { keys = { "q" }, words = "send comments" },
    { keys = { "<CR>" }, words = "approve", is_needed = true },
  }
  local room = api.nvim_win_get_width(plan.win) - winbar.width(parts)
  vim.list_extend(parts, winbar.hints(hints, room))
  winbar.show(plan.win, MARK, winbar.render(parts, highlights.name("")))
end

--- Shows it in the user's window, with the cursor.
---@param request claude-code.PermissionRequest
function M.show(request)
  local plan = plans[request.id] or new(request)
  if
    plan.win
    and api.nvim_win_is_valid(plan.win)
    and api.nvim_win_get_buf(plan.win) == plan.buf
  then
    return api.nvim_set_current_win(plan.win)
  end
  plan.origin = focus.origin()
  local win = windows.for_file()
  plan.borrowed = win and windows.borrow(win, plan.buf) or nil
  plan.win = win or windows.beside(plan.buf)
  plan.guard = when.guard("the plan")
  show_bar(plan)
  focus.take(plan.win, plan.origin)
end

--- A plan was proposed: shows it once the user does not type, and windows may change.
---@param request claude-code.PermissionRequest
function M.offer(request)
  if plans[request.id] or not requests.is_waiting(request.id) then
    return
  elseif when.may_change() == "all" and not when.busy() then
    M.show(request)
  else
    require("claude-code.editor.input.blocked").retry(function()
      M.offer(request)
    end)
  end
end

return M
