--- Checks whether the screen may change now. Neovim refuses changes in the command-line window and while the user types
--- a command, an operator or an answer; and insert mode must keep its window.
local api = vim.api
local autocommands = require("claude-code.lib.autocommands")
local keyboard = require("claude-code.editor.input.keyboard")

---Some blocks, such as the textlock (E565), end without an event.
local RETRY_MS = 200

local M = {}

---Message for the user while `in_command_window`.
M.COMMAND_WINDOW = require("claude-code.messages.notify").REFUSALS.E11

---In the window of `q:`, Neovim refuses most changes to other buffers (E11).
function M.in_command_window()
  return vim.fn.getcmdwintype() ~= ""
end

---@alias claude-code.MayChange
---| "all" normal or terminal mode: windows and focus
---| "no_focus" insert, visual, select mode: windows other than the current one
---| "nothing"

---@return claude-code.MayChange
function M.may_change()
  if M.in_command_window() then
    return "nothing"
  end
  local mode = api.nvim_get_mode().mode
  if mode == "n" or mode == "nt" or mode == "t" then
    return "all"
  elseif mode:find("^[ivVsSR\22\19]") or mode:find("^ni") or mode == "ntT" then
    return "no_focus"
  end
  return "nothing"
end

---Calls back once, soon after the next of these events.
---@param is_meant? fun(event: string): boolean
---@return fun() run calls back now, unless it has done so
function M.on_next(events, callback, is_meant)
  local group, is_over = autocommands.new(("next.%d"):format(vim.uv.hrtime())), false
  local function run()
    if not is_over then
      is_over = true
      group:stop()
      callback()
    end
  end
  group:on(events, function(_, args)
    if not is_meant or is_meant(args.event) then
      vim.schedule(run)
    end
  end)
  return run
end

---Calls back once, soon after the result of `may_change` may have changed.
---@param ms? integer limit
function M.retry(callback, ms)
  local cancel
  local run = M.on_next({ "ModeChanged", "CmdlineLeave", "CmdwinLeave" }, function()
    cancel()
    callback()
  end)
  cancel = keyboard.after(ms or RETRY_MS, run)
end

---Does Neovim refuse changes only for now (E565, E11)?
function M.is_textlock_error(message)
  message = tostring(message)
  return message:find("E565:", 1, true) ~= nil or message:find("E11:", 1, true) ~= nil
end

---Leaves insert, visual or select mode once Neovim processes input.
function M.to_normal_mode()
  if api.nvim_get_mode().mode:find("^[iR]") then
    vim.cmd.stopinsert()
  else
    api.nvim_feedkeys(vim.keycode("<C-\\><C-n>"), "n", false)
  end
end

return M
