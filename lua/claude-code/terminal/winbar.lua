--- The bar ('winbar') above Claude's window while several sessions run: their names and states.
local api = vim.api
local label = require("claude-code.sessions.label")
local path = require("claude-code.editor.documents.path")
local winbar = require("claude-code.editor.windows.winbar")

local M = {}

--- Neovim asks for the text whenever it draws the bar.
local EXPRESSION = "%{%v:lua.require'claude-code.terminal.winbar'.text()%}"

--- Cells.
local MAX_NAME, MIN_ACTIVITY = 16, 8

---@param has_names boolean otherwise only numbers
local function parts_for(rows, buf, has_names)
  local parts = {}
  for _, row in ipairs(rows) do
    local text, name = tostring(row.n), row.name or row.worktree
    if name and has_names then
      text = ("%d %s"):format(row.n, winbar.shortened(name, MAX_NAME, "head"))
    end
    local group = row.buf == buf and "ClaudeCodeSessionCurrent" or "ClaudeCodeSessionOther"
    table.insert(parts, { (" %s "):format(text), group })
    local state = label.state(row.state)
    table.insert(parts, { state.symbol .. " ", state.highlight })
  end
  return parts
end

--- The sessions, and the activity of the session in the window at the right if there is room.
function M.text()
  local win = vim.g.statusline_winid or 0
  local buf, width = api.nvim_win_get_buf(win), api.nvim_win_get_width(win)
  local rows, activity = label.own(), ""
  local parts = parts_for(rows, buf, true)
  if winbar.width(parts) > width then
    parts = parts_for(rows, buf, false)
  end
  local room = width - winbar.width(parts) - 2
  for _, row in ipairs(room >= MIN_ACTIVITY and rows or {}) do
    if row.buf == buf then
      -- Shorten the path of a file.
      local words = label.activity(row):gsub(": (/%S+)$", function(name)
        return ": " .. path.title(name)
      end)
      activity = winbar.shortened(words, room, "head")
    end
  end
  vim.list_extend(parts, { "%<", { "", "ClaudeCodeSessionOther" }, "%=", { activity .. " " } })
  return winbar.render(parts)
end

local function update()
  local list = label.own()
  local wanted = #list > 1 and require("claude-code.config").get().terminal.winbar
  for _, row in ipairs(list) do
    for _, win in ipairs(row.buf and vim.fn.win_findbuf(row.buf) or {}) do
      -- A 'winbar' that the user has set stays.
      if not wanted then
        winbar.hide(win, EXPRESSION)
      elseif vim.wo[win].winbar == "" then
        winbar.show(win, EXPRESSION)
      end
    end
  end
  if wanted then
    vim.cmd.redrawstatus({ bang = true })
  end
end

--- Follows the sessions and their windows. Changes in the same moment are one update.
function M.follow()
  local group = require("claude-code.lib.autocommands").new("terminal.winbar")
  local once = { min_ms = 0, max_ms = 0, share = 1 }
  local update_soon = require("claude-code.lib.timer").throttle(once, update)
  group:on("User", update_soon, { pattern = "ClaudeCodeSession*" })
  group:on("BufWinEnter", function(buf)
    if vim.b[buf].claude_code_terminal then
      update_soon()
    end
  end)
end

return M
