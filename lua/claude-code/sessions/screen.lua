--- What the user has before their eyes: a session whose terminal is on screen in a Neovim that has the
--- focus was looked at.
local api = vim.api
local rows = require("claude-code.sessions.rows")

local M = {}

--- Terminals that do not report their focus count as focused.
local has_focus = true

---@return boolean
function M.has_focus()
  return has_focus
end

---@param row claude-code.SessionRow
---@return boolean
function M.shows(row)
  return row.buf ~= nil
    and vim.iter(api.nvim_tabpage_list_wins(0)):any(function(win)
      return api.nvim_win_get_buf(win) == row.buf
    end)
end

local function look()
  for _, row in ipairs(has_focus and rows.peek() or {}) do
    if not row.seen and M.shows(row) then
      rows.see({ buf = row.buf })
    end
  end
end

---Follows windows and focus, from the first call on.
function M.follow()
  local group = api.nvim_create_augroup("claude-code.sessions.screen", { clear = true })
  api.nvim_create_autocmd({ "FocusGained", "FocusLost" }, {
    group = group,
    callback = function(event)
      has_focus = event.event == "FocusGained"
      look()
    end,
  })
  api.nvim_create_autocmd({ "WinEnter", "BufWinEnter", "TabEnter" }, {
    group = group,
    callback = look,
  })
  api.nvim_create_autocmd("User", {
    group = group,
    pattern = "ClaudeCodeSessionChanged",
    callback = look,
  })
end

return M
