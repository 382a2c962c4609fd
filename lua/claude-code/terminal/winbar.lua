--- The bar ('winbar') above Claude's window while several sessions run: their names and states. A click
--- shows a session.
local api = vim.api
local label = require("claude-code.sessions.label")
local path = require("claude-code.editor.documents.path")
local winbar = require("claude-code.editor.windows.winbar")

local highlights = label.highlights

local M = {}

--- Neovim asks for the text whenever it draws the bar.
local EXPRESSION = "%{%v:lua.require'claude-code.terminal.winbar'.text()%}"
local CLICK = "v:lua.require'claude-code.terminal.winbar'.click"

--- How the sessions stand in the bar: the first that has room for all. `name`: cells that a name gets, 0
--- for none; `blank`: around the symbols.
---@type { name: integer, blank: string }[]
local LAYOUTS = { { name = 16, blank = " " }, { name = 8, blank = " " }, { name = 0, blank = "" } }

--- Cells that what a session does needs at least, or it is left out.
local ACTIVITY = 8

---@param rows claude-code.SessionRow[]
---@param buf integer of the session that is shown
---@param layout table of LAYOUTS
---@return claude-code.BarPart[]
local function parts_for(rows, buf, layout)
  local parts = {}
  for _, row in ipairs(rows) do
    local text, name = tostring(row.n), row.name or row.worktree
    if name and layout.name > 0 then
      text = ("%d %s"):format(row.n, winbar.shortened(name, layout.name, "head"))
    end
    local group = highlights.name(row.buf == buf and "Current" or "Other")
    local click = ("%%%d@%s@"):format(row.n, CLICK)
    table.insert(parts, { " " .. text .. layout.blank, group, click = click })
    local symbol = label.symbol(row) .. layout.blank
    table.insert(parts, { symbol, label.highlight(row), click = click })
  end
  return parts
end

---@param row claude-code.SessionRow
---@param room integer in cells
---@return string text what it does; of a file the last parts of its path stay
local function activity_in(row, room)
  local text = label.activity(row)
  local what, name = text:match("^([%a ]+: )(/%S+)$")
  name = name and path.title(name)
  while name and vim.fn.strdisplaywidth(what .. name) > room and name:find("/") do
    name = name:gsub("^…/", ""):gsub("^/?[^/]*/", "…/")
  end
  return winbar.shortened(name and what .. name or text, room, "head")
end

--- The sessions; at the right, if there is room, what the one that is shown does.
---@return string
function M.text()
  local win = vim.g.statusline_winid or 0
  local buf, width = api.nvim_win_get_buf(win), api.nvim_win_get_width(win)
  local rows, parts = label.own(), {}
  for _, layout in ipairs(LAYOUTS) do
    parts = parts_for(rows, buf, layout)
    if winbar.width(parts) <= width then
      break
    end
  end
  local room, activity = width - winbar.width(parts) - 2, ""
  for _, row in ipairs(room >= ACTIVITY and rows or {}) do
    activity = row.buf == buf and activity_in(row, room) or activity
  end
  vim.list_extend(parts, { "%<", { "", highlights.name("Other") }, "%=", { activity .. " " } })
  return winbar.render(parts)
end

--- Shows a session: what a click on its name calls.
---@param n integer
function M.click(n)
  vim.schedule(function()
    require("claude-code.terminal.running").focus(n)
  end)
end

local function update()
  local list = label.own()
  local wanted = #list > 1 and require("claude-code.config").get().terminal.winbar
  for _, row in ipairs(list) do
    for _, win in ipairs(row.buf and vim.fn.win_findbuf(row.buf) or {}) do
      -- A bar that is not ours stays: one of this window, or the global one.
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

--- Follows the sessions and their windows, from the first call on: what changes together is one update.
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
