--- The bar ('winbar') above Claude's window while several sessions run: their names and states. A click
--- shows a session.
local api = vim.api
local label = require("claude-code.terminal.label")

local M = {}

--- Neovim asks for the text whenever it draws the bar.
local EXPRESSION = "%{%v:lua.require'claude-code.terminal.winbar'.text()%}"
local CLICK = "v:lua.require'claude-code.terminal.winbar'.click"

--- Cells that a name gets.
local NAME = 16

---@param text string
---@param cells integer
---@return string that shows as it is
local function literal(text, cells)
  text = vim.fn.strtrans(text)
  if vim.fn.strchars(text) > cells then
    text = vim.fn.strcharpart(text, 0, cells - 1) .. "…"
  end
  return (text:gsub("%%", "%%%%"))
end

---@param row claude-code.SessionRow
---@param is_shown boolean
---@return string
local function item(row, is_shown)
  local name = row.name or row.worktree
  local text = name and ("%d %s"):format(row.n, literal(name, NAME)) or tostring(row.n)
  local group = is_shown and "Title" or "Comment"
  local state = label.highlight(row)
  return ("%%%d@%s@%%#%s# %s %%#%s#%s %%X"):format(
    row.n,
    CLICK,
    group,
    text,
    state,
    label.symbol(row)
  )
end

--- What the session that is shown does stands at the right, where it is cut off first.
---@return string
function M.text()
  local buf = api.nvim_win_get_buf(vim.g.statusline_winid or 0)
  local parts, activity = {}, ""
  for _, row in ipairs(label.own()) do
    local is_shown = row.buf == buf
    parts[#parts + 1] = item(row, is_shown)
    activity = is_shown and literal(label.activity(row), 200) or activity
  end
  return table.concat(parts) .. "%#Comment#%= %<" .. activity .. " "
end

--- Shows a session: what a click on its name calls.
---@param n integer
function M.click(n)
  vim.schedule(function()
    require("claude-code.terminal.running").show(n)
  end)
end

--- A bar that is not ours stays: one of this window, or the global one.
---@param win integer
---@param wanted boolean
local function set(win, wanted)
  local is_ours = vim.wo[win].winbar == EXPRESSION
  local value = wanted and EXPRESSION or ""
  if is_ours ~= wanted and (is_ours or vim.wo[win].winbar == "") then
    api.nvim_set_option_value("winbar", value, { win = win, scope = "local" })
  end
end

local function update()
  local list = label.own()
  local wanted = #list > 1 and require("claude-code.config").get().terminal.winbar
  for _, row in ipairs(list) do
    for _, win in ipairs(row.buf and vim.fn.win_findbuf(row.buf) or {}) do
      set(win, wanted)
    end
  end
  if wanted then
    vim.cmd.redrawstatus({ bang = true })
  end
end

local is_pending = false

--- Brings the bars up to date, once for what changes together.
function M.update()
  if is_pending then
    return
  end
  is_pending = true
  vim.schedule(function()
    is_pending = false
    update()
  end)
end

--- Follows the sessions and their windows, from the first call on.
function M.follow()
  local group = api.nvim_create_augroup("claude-code.terminal.winbar", { clear = true })
  api.nvim_create_autocmd("User", {
    group = group,
    pattern = "ClaudeCodeSession*",
    callback = M.update,
  })
  api.nvim_create_autocmd("BufWinEnter", {
    group = group,
    callback = function(event)
      if vim.b[event.buf].claude_code_terminal then
        M.update()
      end
    end,
  })
end

return M
