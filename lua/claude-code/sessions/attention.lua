--- Calls the user to sessions that are not on screen and need them: the options `notify.*`.
local api = vim.api
local label = require("claude-code.sessions.label")
local rows = require("claude-code.sessions.rows")

local M = {}

--- A report covers all changes within this time that still hold at its end.
local MERGE_MS = 1000

local function key_of(row)
  return row.n and "n" .. row.n or "pid" .. tostring(row.pid)
end

local has_focus = true -- A terminal that does not report its focus counts as focused.
local pending = {} ---@type table<string, integer> start of each state to report, by the session's key

local function is_on_screen(row)
  return row.buf ~= nil and vim.fn.bufwinid(row.buf) ~= -1
end

--- While Neovim has the focus, the user sees the terminals on screen.
local function look()
  for _, row in ipairs(has_focus and rows.list() or {}) do
    if not row.seen and is_on_screen(row) then
      local state = row.state == "done" and "idle" or row.state
      rows.set({ buf = row.buf }, { seen = true, state = state })
    end
  end
end

--- Counts the waiting diffs of one client, or of all; editor.diff sets it.
---@type fun(client?: integer): integer
M.count_diffs = function()
  return 0
end

---@return boolean does a diff ask for the same permission?
function M.has_diff(row)
  return row.kind == "permission"
    and vim.iter(require("claude-code.server").clients):any(function(client)
      return client.pid == row.pid and M.count_diffs(client.id) > 0
    end)
end

local function is_wanted(row)
  local on = require("claude-code.config").get().notify.on
  return row.attached
    and vim.tbl_contains(on, row.state)
    and not (has_focus and is_on_screen(row))
    and not M.has_diff(row)
end

local function text_of(found)
  if #found > 1 then
    return ("%d Claude sessions need you"):format(#found)
  end
  local row = found[1]
  return label.sentence(row) .. (row.msg and ": " .. row.msg or "")
end

--- Rings the bell of Neovim's terminal, which also shows a notification if it supports OSC 9. tmux does not pass that
--- on.
local function call_outside(text)
  local line = require("claude-code.lib.text").one_line(text, 200) or ""
  local bytes = ("\27]9;%s\27\\\a"):format(line)
  if api.nvim_ui_send then
    api.nvim_ui_send(bytes)
  else
    -- TODO(0.10): channel 2 is stderr, which is the terminal.
    pcall(api.nvim_chan_send, 2, bytes)
  end
end

local function report(found)
  local notify = require("claude-code.messages.notify")
  local by = require("claude-code.config").get().notify.by
  if type(by) == "function" then
    local ok, message = pcall(by, found)
    if not ok then
      notify.error(("the function notify.by failed: %s"):format(message))
    end
  elseif has_focus then
    -- The command comes first, since a narrow screen truncates the text.
    local requests = package.loaded["claude-code.sessions.requests"]
    local how = requests and requests.of(found[1]) and ":Claude answer: "
      or found[1].n and ":Claude next: "
      or found[1].job and ":Claude sessions: "
      or ""
    notify.warn(how .. text_of(found), "sessions")
  elseif #api.nvim_list_uis() > 0 then
    call_outside(text_of(found))
  end
end

local function report_pending()
  local found = vim.tbl_filter(function(row)
    return pending[key_of(row)] == row.since and is_wanted(row)
  end, rows.list())
  pending = {}
  if #found > 0 then
    report(found)
  end
end

local merged = { min_ms = MERGE_MS, max_ms = MERGE_MS, share = 1 }
local report_soon = require("claude-code.lib.timer").throttle(merged, report_pending)

---@param change { session: claude-code.SessionRow, from?: claude-code.SessionState }
function M.notice(change)
  look()
  local row, key = change.session, key_of(change.session)
  if row.since ~= pending[key] and change.from ~= row.state and is_wanted(row) then
    pending[key] = row.since
    report_soon()
  end
end

---Follows Neovim's focus and windows.
function M.watch()
  local group = require("claude-code.lib.autocommands").new("sessions.attention")
  group:on({ "FocusGained", "FocusLost" }, function(_, args)
    has_focus = args.event == "FocusGained"
    look()
  end)
  group:on({ "WinEnter", "BufWinEnter" }, look)
end

return M
