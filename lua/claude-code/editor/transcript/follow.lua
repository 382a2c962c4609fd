--- Shows the lines that Claude reads and edits, in a window of their own. Leaves the user's cursor, window, jump list
--- and the alternate file unchanged, and pauses while the cursor is in that window.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local label = require("claude-code.sessions.label")
local notify = require("claude-code.messages.notify")
local sessions = require("claude-code.sessions")
local winbar = require("claude-code.editor.windows.winbar")
local windows = require("claude-code.editor.windows")

local M = {}

local NAMESPACE = api.nvim_create_namespace("claude-code.follow")
---Identifies our bar.
local MARK = "%(%(%)%)"
local WORDS = { read = "reads", searched = "searches", edited = "edits" }

---@class claude-code.Follow
---@field n integer number of the session
---@field win integer
---@field events claude-code.Autocommands

---@type claude-code.Follow?
local following

local function show_bar(text)
  local name = label.of(following.n)
  local parts = { { name .. " ", "ClaudeCodeBarFile" }, { text, "ClaudeCodeNote" }, "%<" }
  winbar.show(following.win, MARK, winbar.render(parts))
end

local function stop()
  local win = following.win
  following.events:stop()
  following = nil
  if api.nvim_win_is_valid(win) then
    api.nvim_buf_clear_namespace(api.nvim_win_get_buf(win), NAMESPACE, 0, -1)
    windows.close(win)
  end
end

---@return integer? buf nil: the file is missing, or must not be shown
local function buffer_of(step)
  if step.act ~= "searched" and not require("claude-code.editor.privacy").is_private(step.path) then
    return (require("claude-code.editor.documents").load(step.path))
  end
end

local function show_lines(buf, step)
  local count = api.nvim_buf_line_count(buf)
  local first = math.min(step.first or 1, count)
  local last = math.min(step.last or first, count)
  api.nvim_buf_clear_namespace(buf, NAMESPACE, 0, -1)
  if step.first then
    local look = { end_row = last, hl_group = "ClaudeCodeTranscriptFollowed", hl_eol = true }
    api.nvim_buf_set_extmark(buf, NAMESPACE, first - 1, 0, look)
  end
  local win = following.win
  local above = math.min(5, math.floor(api.nvim_win_get_height(win) / 3))
  api.nvim_win_call(win, function()
    vim.fn.winrestview({ lnum = first, col = 0, topline = math.max(1, first - above) })
  end)
end

local function show(step)
  local buf, first, last = buffer_of(step), step.first, step.last
  local lines = first and " " .. first .. (last and last > first and "–" .. last or "") or ""
  local subject = step.act == "searched" and step.subject
    or buf and vim.fs.basename(step.path) .. lines
    or "a file that is not shown"
  local before = api.nvim_win_get_buf(following.win)
  if buf and before ~= buf then
    api.nvim_buf_clear_namespace(before, NAMESPACE, 0, -1)
    windows.show(following.win, buf)
  end
  -- Set the bar before scrolling, since a new bar takes a line.
  show_bar(("%s %s"):format(WORDS[step.act], subject))
  if buf then
    show_lines(buf, step)
  end
end

local function follow_events(events, win)
  -- Scheduled: autocommands do not nest, so plugins would miss the events of files that we load and show.
  local on_step = vim.schedule_wrap(function(_, args)
    local is_free = following
      and following.win == win
      and api.nvim_win_is_valid(win)
      and api.nvim_get_current_win() ~= win
    if is_free and args.data.session.n == following.n then
      show(args.data.step)
    end
  end)
  events:on("User", on_step, { pattern = "ClaudeCodeStep" })
  events:on("WinClosed", stop, { pattern = tostring(win) })
end

---Starts or stops following. The window may have closed without an event (`:noautocmd`).
---@param n? integer number of the session; nil: the current one
function M.toggle(n)
  if following and api.nvim_win_is_valid(following.win) then
    return stop()
  end
  n = n or sessions.current()
  if not n then
    return notify.info("no Claude session runs; :Claude starts one")
  end
  local row = sessions.get(n)
  if row and row.remote then
    return notify.info("Claude in a remote cannot be followed; see :Claude trail")
  end
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  local beside = windows.for_file() or api.nvim_get_current_win()
  local height = math.max(1, math.floor(api.nvim_win_get_height(beside) * 0.4))
  local win = api.nvim_open_win(buf, false, { win = beside, split = "below", height = height })
  following = { n = n, win = win, events = autocommands.new("follow") }
  vim.w[win].claude_code_follow = true
  api.nvim_set_option_value("scrolloff", 0, { win = win, scope = "local" })
  show_bar("is followed here")
  follow_events(following.events, win)
end

return M
