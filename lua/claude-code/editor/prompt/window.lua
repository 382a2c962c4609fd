--- The window for a prompt: below Claude's, else below the user's file.
local api = vim.api
local winbar = require("claude-code.editor.windows.winbar")

--- Begins the window's bar.
local MARK = "%(%(%(%)%)%)"

local M = {}

---@param win integer
---@param title string
---@param keys string what they do
function M.show_bar(win, title, keys)
  local parts = { { title, "Bar" }, { "  " .. keys, "Note" } }
  winbar.show(win, MARK, winbar.render(parts, "ClaudeCodeTranscript"))
end

---@param buf integer
---@param n? integer number of the session
---@return integer win it has the cursor
function M.open(buf, n)
  local row = n and require("claude-code.sessions").get(n) or {}
  local claude = row.buf and require("claude-code.terminal.providers.window").find(row.buf)
  local beside = claude or require("claude-code.editor.windows").for_file() or 0
  local height = math.max(6, math.floor(api.nvim_win_get_height(beside) * 0.4))
  if api.nvim_get_mode().mode == "t" then
    vim.cmd.stopinsert()
  end
  local win = api.nvim_open_win(buf, true, { win = beside, split = "below", height = height })
  for name, value in pairs({ wrap = true, linebreak = true, number = false, signcolumn = "no" }) do
    api.nvim_set_option_value(name, value, { win = win, scope = "local" })
  end
  return win
end

return M
