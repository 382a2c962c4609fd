--- Which of the two ways of working the user is in: said once, when their first turn ends.
local M = {}

--- Modes in which the CLI (2.1.330) asks before each edit; the others edit first.
local ASKING = { default = true, plan = true, manual = true }

local MARK = vim.fs.joinpath(vim.fn.stdpath("state") --[[@as string]], "claude-code", "ways")

---@param mode string of the permission mode in which the turn was
function M.say_once(mode)
  local is_chosen = require("claude-code.config").get().terminal.permission_mode
  if is_chosen or vim.uv.fs_stat(MARK) then
    return
  end
  vim.fn.mkdir(vim.fs.dirname(MARK), "p", tonumber("700", 8))
  if not pcall(vim.fn.writefile, {}, MARK) then
    return -- It would be said after each turn.
  end
  local text = ASKING[mode] and "Claude asks before each edit here, in a diff"
    or "Claude edits without asking here, and :Claude review shows what it changed"
  local way = ('%s (mode "%s"); the other way: :help claude-code-two-ways'):format(text, mode)
  require("claude-code.messages.notify").info(way)
end

return M
