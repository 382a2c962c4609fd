--- The bar ('winbar') above Claude's window while several sessions run: their names and states. A click
--- shows a session.
local api = vim.api
local label = require("claude-code.terminal.label")

local M = {}

--- Neovim asks for the text whenever it draws the bar.
local EXPRESSION = "%{%v:lua.require'claude-code.terminal.winbar'.text()%}"
local CLICK = "v:lua.require'claude-code.terminal.winbar'.click"

--- How the sessions stand in the bar: the first that has room for all. `name`: cells that a name gets, 0
--- for none; `is_dense`: without blanks around the symbols.
---@type { name: integer, only_shown?: boolean, is_dense?: boolean }[]
local LAYOUTS = {
  { name = 16 },
  { name = 8 },
  { name = 16, only_shown = true },
  { name = 8, only_shown = true, is_dense = true },
  { name = 0, is_dense = true },
}

--- Cells that what a session does needs at least, or it is left out.
local ACTIVITY = 8

---@param text string
---@param cells integer
---@return string text no longer than that
local function shortened(text, cells)
  text = vim.fn.strtrans(text)
  while vim.fn.strdisplaywidth(text) > cells do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 2) .. "…"
  end
  return text
end

---@alias claude-code.WinbarPart { row: claude-code.SessionRow, text: string, is_shown: boolean }

---@param rows claude-code.SessionRow[]
---@param buf integer of the session that is shown
---@param layout table of LAYOUTS
---@return claude-code.WinbarPart[]
---@return integer cells
local function parts_for(rows, buf, layout)
  local parts, cells = {}, 0
  for _, row in ipairs(rows) do
    local is_shown, name = row.buf == buf, row.name or row.worktree
    local text = tostring(row.n)
    if name and layout.name > 0 and (is_shown or not layout.only_shown) then
      text = ("%d %s"):format(row.n, shortened(name, layout.name))
    end
    table.insert(parts, { row = row, text = text, is_shown = is_shown })
    cells = cells + vim.fn.strdisplaywidth(text) + (layout.is_dense and 2 or 4)
  end
  return parts, cells
end

---@param part claude-code.WinbarPart
---@param is_dense? boolean
---@return string
local function rendered(part, is_dense)
  local group = require("claude-code.terminal.highlights").name
  return (is_dense and "%%%d@%s@%%#%s# %s%%#%s#%s%%X" or "%%%d@%s@%%#%s# %s %%#%s#%s %%X"):format(
    part.row.n,
    CLICK,
    group(part.is_shown and "Current" or "Other"),
    (part.text:gsub("%%", "%%%%")),
    label.highlight(part.row),
    label.symbol(part.row)
  )
end

---@param buf integer of the session that is shown
---@param width integer
---@return claude-code.WinbarPart[]
---@return integer cells
---@return table layout
local function fitting(buf, width)
  local rows, parts, cells, layout = label.own(), {}, 0, nil
  for _, next_layout in ipairs(LAYOUTS) do
    layout = next_layout
    parts, cells = parts_for(rows, buf, layout)
    if cells <= width then
      break
    end
  end
  return parts, cells, layout
end

--- The sessions; at the right, if there is room, what the one that is shown does.
---@return string
function M.text()
  local win = vim.g.statusline_winid or 0
  local buf, width = api.nvim_win_get_buf(win), api.nvim_win_get_width(win)
  local parts, cells, layout = fitting(buf, width)
  local room, items, activity = width - cells - 2, {}, ""
  for i, part in ipairs(parts) do
    items[i] = rendered(part, layout.is_dense)
    if part.is_shown and room >= ACTIVITY then
      activity = shortened(label.activity(part.row), room):gsub("%%", "%%%%")
    end
  end
  local other = require("claude-code.terminal.highlights").name("Other")
  return ("%s%%<%%#%s#%%=%s "):format(table.concat(items), other, activity)
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
