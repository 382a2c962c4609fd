--- Runs tmux, the server of which Neovim's own pane is a part.
local M = {}

local TIMEOUT_MS = 2000

---@return boolean does Neovim run in tmux?
function M.is_around()
  return (vim.env.TMUX or "") ~= ""
end

---@param arguments string[] every user of the machine can read them
---@param input? string its stdin
---@return string? output nil if tmux failed
---@return string? message
function M.run(arguments, input)
  local program, missing = require("claude-code.programs").on_path("tmux")
  if not program then
    return nil, missing
  end
  local command = vim.list_extend({ program }, arguments)
  local ok, started = pcall(vim.system, command, { text = true, stdin = input })
  if not ok then
    return nil, ("%s cannot be started: %s"):format(program, started)
  end
  local result = started:wait(TIMEOUT_MS)
  if result.code ~= 0 then
    return nil, vim.trim(result.stderr or "")
  end
  return vim.trim(result.stdout or "")
end

--- The pane of this tmux in which a process runs, whoever opened it.
---@param pid integer
---@return string? pane its id
function M.pane_of(pid)
  local ancestors = require("claude-code.programs.process").place(pid).ancestors
  local panes = M.is_around() and M.run({ "list-panes", "-a", "-F", "#{pane_id} #{pane_pid}" })
    or ""
  for pane, program in panes:gmatch("(%%%d+) (%d+)") do
    if vim.list_contains(ancestors, tonumber(program)) then
      return pane
    end
  end
end

--- Shows a pane and goes there, be it in another window or session of tmux.
---@param pane string its id
---@return boolean shown
function M.show(pane)
  local selected = M.run({ "select-window", "-t", pane, ";", "select-pane", "-t", pane })
  -- Without a client nobody looks at this tmux.
  M.run({ "switch-client", "-t", pane })
  return selected ~= nil
end

return M
