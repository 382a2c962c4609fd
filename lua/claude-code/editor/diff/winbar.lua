--- The line above each side: what it is, how many wait, and the keys.
local api = vim.api
local path = require("claude-code.editor.path")

local M = {}

---@param text string
---@return string with nothing special to 'winbar'
local function plain(text)
  return (text:gsub("%%", "%%%%"):gsub("%c", "?"))
end

---@param session claude-code.Diff
---@return string
local function left(session)
  local state = session.exists and "on disk" or "new file"
  local warning = session.unsaved and "%#WarningMsg# your unsaved edits are kept, not shown %*"
    or ""
  return (" %s (%s) %s%%<"):format(plain(path.base(session.old_path)), state, warning)
end

---@param session claude-code.Diff
---@param number integer which of those that came together
---@param total integer
---@return string
local function right(session, number, total)
  local count = total > 1 and ("[%d/%d] "):format(number, total) or ""
  return (" %s%s (proposed)%%<%%=<CR> accept  q reject "):format(
    count,
    plain(path.base(session.new_path))
  )
end

---@param session claude-code.Diff
---@param number integer
---@param total integer
function M.show(session, number, total)
  local texts = {
    [session.old_buf] = left(session),
    [session.new_buf] = right(session, number, total),
  }
  for _, win in ipairs(session.place.windows) do
    local text = api.nvim_win_is_valid(win) and texts[api.nvim_win_get_buf(win)]
    if text then
      api.nvim_set_option_value("winbar", text, { win = win, scope = "local" })
    end
  end
end

return M
