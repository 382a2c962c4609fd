--- When a diff may be shown, and when it may take the focus: not while the user types.
local blocked = require("claude-code.editor.input.blocked")
local decision_guard = require("claude-code.editor.diff.decision_guard")
local keyboard = require("claude-code.editor.input.keyboard")
local windows = require("claude-code.editor.windows")

local M = {}

---@return boolean
function M.in_terminal()
  return vim.api.nvim_get_mode().mode == "t"
end

---@return integer ms without a key after which the user is not in the middle of typing
function M.pause_ms()
  -- In terminal mode a prompt is being written, with pauses for thought.
  return decision_guard.period() * (M.in_terminal() and 2 or 1)
end

---@return integer ms that are left of that pause
function M.ms_until_idle()
  return math.ceil(math.max(0, M.pause_ms() - keyboard.idle_ms()))
end

---What showing a diff may change now. Typing in a terminal counts like insert mode; typing in normal
---mode does not leave its window.
---@return claude-code.MayChange
function M.may_change()
  local may = blocked.may_change()
  if may ~= "all" or M.ms_until_idle() == 0 then
    return may
  end
  -- A tab page of its own cannot be made without leaving the terminal.
  local on_tab = require("claude-code.config").get().diff.layout == "tab"
  return M.in_terminal() and not on_tab and "no_focus" or "nothing"
end

---May a diff be shown now? A user who types keeps the window they type in.
---@return boolean
function M.can_show()
  local may = M.may_change()
  if may ~= "no_focus" then
    return may == "all"
  elseif windows.is_floating(0) and not M.in_terminal() then
    -- A picker's prompt, most likely: it is about to open a file in the window behind it.
    return false
  end
  return windows.for_file(nil, vim.api.nvim_get_current_win()) ~= nil and not windows.has_diff()
end

return M
