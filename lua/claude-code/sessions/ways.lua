--- Which of the two ways of working the user is in: said once, when their first turn ends.
local M = {}

--- Modes in which the CLI (2.1.330) asks before each edit; the others edit first.
local ASKING = { default = true, plan = true, manual = true }

local MARK = require("claude-code.lib.state_folder").path("ways")

--- Neovim's message line holds one message: what the review says of the turn is read first, in ms.
M.AFTER_MS = 3000

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
  -- It fits into 80 columns.
  local way = ASKING[mode] and "asks before each edit" or "edits without asking"
  local text = ("Claude %s; other way: :help claude-code-two-ways"):format(way)
  require("claude-code.lib.timer").once(M.AFTER_MS, function()
    require("claude-code.messages.notify").info(text)
  end)
end

return M
