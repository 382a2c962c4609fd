--- Closes the windows of a diff that has ended, as soon as they may change.
local blocked = require("claude-code.editor.input.blocked")
local notify = require("claude-code.messages.notify")

---How a view closes.
---@class claude-code.Closing
---@field done fun()
---@field back_to_terminal? boolean a user who came from a terminal goes on typing in it
---@field undecided? boolean the proposal keeps its buffers, and nobody's insert mode is ended
---@field in_write? boolean Neovim is writing the proposal, and needs its window until it has

local M = {}

---Windows and buffers came or went with autocommands off: the mirror of the editor's state looks.
function M.touch()
  local state = package.loaded["claude-code.editor.sync"]
  if state then
    state.touch()
  end
end

---@param view claude-code.View
---@return boolean
local function may_close(view)
  local may = blocked.may_change()
  if may == "no_focus" and view:is_inside() then
    if not view.closing_as.undecided then
      blocked.to_normal_mode()
    end
    return false
  end
  return may ~= "nothing"
end

---@param view claude-code.View
local function close(view)
  local function again()
    close(view)
  end
  if not may_close(view) then
    return blocked.retry(again)
  end
  local closing = view.closing_as --[[@as claude-code.Closing]]
  local ok, message = pcall(view.remove, view, closing.back_to_terminal or false)
  if not ok and blocked.is_textlock_error(message) then
    return blocked.retry(again)
  elseif not ok then
    notify.error("closing a diff failed: " .. message)
  end
  if not closing.undecided then
    view.proposal:discard()
  end
  M.touch()
  closing.done()
end

---@param view claude-code.View `closing_as` says how; it may change until the windows close
function M.start(view)
  if view.closing_as.in_write then
    vim.schedule(function()
      close(view)
    end)
  else
    close(view)
  end
end

return M
