--- What the user has before their eyes, and calls them to a session that needs them: the options
--- `notify.*`.
local api = vim.api
local rows = require("claude-code.sessions.rows")

local M = {}

--- What happens within this time is one report, and what is over by then is none. In ms.
local MERGE_MS = 1000

---@type table<claude-code.SessionState, { one: string, several: string }>
local WORDS = {
  blocked = { one = "needs input", several = "need input" },
  error = { one = "failed", several = "failed" },
  done = { one = "is done", several = "are done" },
  idle = { one = "is idle", several = "are idle" },
  working = { one = "works", several = "work" },
}

---@param row claude-code.SessionRow
---@return string
local function key_of(row)
  return row.n and "n" .. row.n or "pid" .. tostring(row.pid)
end

--- `has_focus`: terminals that do not report their focus count as focused. `pending`: what is to be
--- reported: since when, by the session's process or number.
---@type { has_focus: boolean, pending: table<string, integer> }
local user = { has_focus = true, pending = {} }

---@param row claude-code.SessionRow
---@return boolean
local function is_on_screen(row)
  return row.buf ~= nil
    and vim.iter(api.nvim_tabpage_list_wins(0)):any(function(win)
      return api.nvim_win_get_buf(win) == row.buf
    end)
end

--- A session whose terminal is on screen in a Neovim that has the focus was looked at.
local function look()
  for _, row in ipairs(user.has_focus and rows.peek() or {}) do
    if not row.seen and is_on_screen(row) then
      rows.see({ buf = row.buf })
    end
  end
end

--- How many diffs of a client, or of all, wait, on screen or not; editor.diff sets it.
---@type fun(client?: integer): integer
M.count_diffs = function()
  return 0
end

---@param row claude-code.SessionRow
---@return boolean does a diff ask what the session asks, be it on screen or not?
function M.has_diff(row)
  return row.kind == "permission"
    and vim.iter(require("claude-code.server").clients):any(function(client)
      return client.pid == row.pid and M.count_diffs(client.id) > 0
    end)
end

---@param row claude-code.SessionRow
---@return boolean
local function is_wanted(row)
  local on = require("claude-code.config").get().notify.on
  local is_before_eyes = user.has_focus and is_on_screen(row)
  return row.attached
    and vim.tbl_contains(on, row.state)
    and not is_before_eyes
    and not M.has_diff(row)
end

---@param row claude-code.SessionRow
---@return string
local function name_of(row)
  local name = row.name or row.worktree
  return name and ("Claude (%s)"):format(name)
    or row.n and row.n > 1 and "Claude " .. row.n
    or "Claude"
end

---@param found claude-code.SessionRow[] one or more
---@return string
local function text_of(found)
  local row = found[1]
  if #found == 1 then
    local what = ("%s %s"):format(name_of(row), WORDS[row.state].one)
    return row.msg and ("%s: %s"):format(what, row.msg) or what
  end
  local is_same = vim.iter(found):all(function(other)
    return other.state == row.state
  end)
  return ("%d Claude sessions %s"):format(
    #found,
    is_same and WORDS[row.state].several or "need you"
  )
end

--- A notification of the terminal around Neovim, which does not say which of the two it knows; most know
--- both, and would show both. tmux passes neither on.
---@param text string
---@return string bytes
local function terminal_notification(text)
  local bell = "\a"
  if (vim.env.TMUX or "") ~= "" then
    return bell
  elseif (vim.env.VTE_VERSION or "") ~= "" or (vim.env.TERM or ""):find("^rxvt") then
    return ("\27]777;notify;Claude Code;%s\27\\"):format(text:gsub(";", ",")) .. bell
  end
  return ("\27]9;%s\27\\"):format(text) .. bell
end

---@param text string
local function call_outside(text)
  local line = require("claude-code.sessions.one_line")(text, 200) or ""
  local bytes = terminal_notification(line)
  if api.nvim_ui_send then
    api.nvim_ui_send(bytes)
  else
    -- TODO(0.10): the channel 2 is stderr, which is the terminal.
    pcall(api.nvim_chan_send, 2, bytes)
  end
end

---@param row claude-code.SessionRow
---@return boolean can the user answer here what it asks?
local function can_answer(row)
  local requests = package.loaded["claude-code.sessions.requests"]
  return requests ~= nil and requests.of(row) ~= nil
end

---@param found claude-code.SessionRow[] one or more
local function report(found)
  local notify = require("claude-code.messages.notify")
  local by = require("claude-code.config").get().notify.by
  if type(by) == "function" then
    local ok, message = pcall(by, found)
    if not ok then
      notify.error(("the function notify.by failed: %s"):format(message))
    end
  elseif user.has_focus then
    local how = can_answer(found[1]) and "; :Claude answer answers it"
      or found[1].n and "; :Claude next shows it"
      or found[1].job and "; :Claude sessions shows it"
      or ""
    notify.warn(text_of(found) .. how, "sessions")
  elseif #api.nvim_list_uis() > 0 then
    call_outside(text_of(found))
  end
end

local function report_pending()
  local found = vim.tbl_filter(function(row)
    return user.pending[key_of(row)] == row.since and is_wanted(row)
  end, rows.list())
  user.pending = {}
  if #found > 0 then
    report(found)
  end
end

---Follows windows and focus, and reports what needs the user, from the first call on.
function M.follow()
  local group = require("claude-code.lib.autocommands").new("sessions.attention")
  local limits = { min_ms = MERGE_MS, max_ms = MERGE_MS, share = 1 }
  local trigger = require("claude-code.lib.timer").throttle(limits, report_pending)
  group:on({ "FocusGained", "FocusLost" }, function(_, args)
    user.has_focus = args.event == "FocusGained"
    look()
  end)
  group:on({ "WinEnter", "BufWinEnter" }, look)
  group:on("User", function(_, args)
    look()
    local row, key = args.data.session, key_of(args.data.session)
    if row.since ~= user.pending[key] and args.data.from ~= row.state and is_wanted(row) then
      user.pending[key] = row.since
      trigger()
    end
  end, { pattern = "ClaudeCodeSessionChanged" })
end

return M
