--- What the hooks of a CLI say of its state.
local rows = require("claude-code.sessions.rows")
local sources = require("claude-code.sessions.sources")

local M = {}

--- Modes in which the CLI (2.1.330) asks before each edit; the others edit first.
local ASKING = { default = true, plan = true, manual = true }

local MARK = vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "claude-code", "ways")

--- Neovim's message line holds one message: what the review says of the turn is read first, in ms.
M.AFTER_MS = 3000

--- Says once, when the user's first turn ends, which of the two ways of working they are in.
---@param mode string of the permission mode in which the turn was
local function say_once(mode)
  local is_chosen = require("claude-code.config").get().terminal.permission_mode
  if is_chosen or vim.uv.fs_stat(MARK) then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(MARK), "p", tonumber("700", 8))
  if not pcall(vim.fn.writefile, {}, MARK) then
    return -- It would be said after each turn.
  end
  -- It fits into 80 columns.
  local way = ASKING[mode] and "asks before each edit" or "edits without asking"
  local text = ("Claude %s; other way: :help claude-code-two-ways"):format(way)
  require("claude-code.lib.timer").once(M.AFTER_MS, function()
    require("claude-code.messages.notify").info(text)
  end)
end

---@class claude-code.HookParams what every hook sends
---@field session string the session's id
---@field pid? integer the CLI's; older ones do not send it
---@field n? integer the number of the session's row, which the CLI has inherited
---@field cwd? string
---@field mode? string the permission mode of the turn

---A hook reports.
---@param params claude-code.HookParams
---@param now "working"|"idle"|"done"
function M.report(params, now)
  if now == "done" and params.mode then
    say_once(params.mode)
  end
  local pid = params.pid
  if not pid and not params.n then
    return
  end
  sources.start()
  local key = { n = params.n, pid = pid, id = params.session }
  if pid then
    sources.add(key, { cwd = params.cwd })
  end
  rows.report(key, "hook", { state = now }, { attached = true })
end

---The SessionEnd hook: the CLI ends, or goes on with another conversation.
---@param params claude-code.HookParams
function M.ended(params)
  local key = { n = params.n, pid = params.pid, id = params.session }
  local row = rows.get(key)
  if not row or row.source == "terminal" or row.source == "registry" then
    return
  elseif row.n or row.connected then
    rows.report(key, "hook", {})
  else
    rows.remove(key)
  end
end

return M
