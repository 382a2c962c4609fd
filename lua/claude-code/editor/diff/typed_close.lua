--- Closing a window of the diff by a key or command that was typed in it for that rejects the
--- proposal. Whatever else closes its windows decides nothing.
local api = vim.api
local command_line = require("claude-code.editor.diff.command_line")

local COMMANDS = { close = true, quit = true }
local CTRL_W, CTRL_Q = "\23", "\17"
local KEYS =
  { [CTRL_W .. "c"] = true, [CTRL_W .. "q"] = true, [CTRL_W .. CTRL_Q] = true, ZQ = true }

local NAMESPACE = api.nvim_create_namespace("claude-code.diff.typed_close")

local M = {}

---@param windows integer[] of the diff
---@param guard claude-code.DecisionGuard while it is active, closing decides nothing either
---@param group integer of the autocommands
---@param executed fun(closed: boolean) such a key or command was executed: did it close the window?
---@return fun() stop
---@return fun(): boolean is_pending one was typed, and not executed yet, or only just
function M.watch(windows, guard, group, executed)
  local is_pending = false
  local function check_soon()
    local win = api.nvim_get_current_win()
    if guard:is_active() or not vim.tbl_contains(windows, win) then
      return
    end
    is_pending = true
    -- What was typed is executed before that.
    vim.schedule(function()
      is_pending = false
      executed(not api.nvim_win_is_valid(win))
    end)
  end
  command_line.watch(guard, group, function(command, is_early)
    if COMMANDS[command] and not is_early then
      check_soon()
    end
  end)
  local previous = ""
  vim.on_key(function(key)
    if KEYS[previous .. key] and vim.fn.mode() == "n" then
      check_soon()
    end
    previous = key
  end, NAMESPACE)
  return function()
    vim.on_key(nil, NAMESPACE)
  end, function()
    return is_pending
  end
end

return M
