--- Shows lines in a floating window. Messages could lead to a hit-enter prompt, at which Neovim does not answer the
--- executable.
local api = vim.api

local M = {}

--- Screen lines for the prompt of the list below a preview, and for the command line.
local BESIDE = 4
local MIN_LINES = 3

local previewed ---@type integer? window of the open preview; a picker may end without a callback

---@param most integer cells
local function width_of(lines, most)
  local widest = 20
  for _, line in ipairs(lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  return math.max(1, math.min(widest + 1, most))
end

---@return integer buf, integer win with a height of one line, at the top
---@return integer height for all lines, including wrapped ones
local function open(title, lines, enter, config)
  local buf = api.nvim_create_buf(false, true)
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modifiable = false
  local all = {
    relative = "editor",
    height = 1,
    row = 0,
    style = "minimal",
    border = "rounded",
    title = (" %s "):format(title),
  }
  local win = api.nvim_open_win(buf, enter, vim.tbl_extend("error", all, config))
  vim.wo[win].wrap, vim.wo[win].foldenable = true, false
  -- Users must see all of the text that they allow.
  vim.wo[win].conceallevel = 0
  return buf, win, api.nvim_win_text_height(win, {}).all
end

local function center(win, lines)
  local width = width_of(lines, vim.o.columns - 4)
  -- The height of wrapped lines depends on the width.
  api.nvim_win_set_width(win, width)
  local height = math.min(api.nvim_win_text_height(win, {}).all, math.max(1, vim.o.lines - 4))
  api.nvim_win_set_config(win, {
    relative = "editor",
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    height = height,
  })
end

--- Opens a window in the middle of the screen. `q`, <Esc> and leaving the window close it.
---@return integer buf, fun() close
function M.open(title, lines)
  local previous = api.nvim_get_current_win()
  local buf, win = open(title, lines, true, { width = 1, col = 0 })
  vim.bo[buf].filetype = "claude-code-report"
  center(win, lines)
  local function close()
    vim.cmd.close()
    -- :close alone never returns to a quickfix window.
    pcall(api.nvim_set_current_win, previous)
  end
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, close, { buffer = buf, nowait = true, desc = "Close" })
  end
  api.nvim_create_autocmd("WinLeave", {
    buffer = buf,
    once = true,
    callback = function()
      pcall(api.nvim_win_close, win, true)
    end,
  })
  return buf, close
end

--- Replaces the lines, unless the user has closed the window.
---@param buf integer from open()
function M.fill(buf, lines)
  local win = vim.fn.bufwinid(buf)
  if win == -1 then
    return
  end
  vim.bo[buf].modifiable = true
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].modifiable = false
  center(win, lines)
end

---@param win? integer close only this window
local function close_preview(win)
  if previewed and (not win or win == previewed) then
    pcall(api.nvim_win_close, previewed, true)
    previewed = nil
  end
end

--- Opens a window at the top of the screen, above a list from which the user chooses.
---@param options { syntax?: string, choices: integer } `choices`: length of the list
---@return fun() close
function M.preview(title, lines, options)
  close_preview()
  local buf, win, height = open(title, lines, false, {
    width = width_of(lines, vim.o.columns - 2),
    col = 0,
    focusable = false,
    zindex = 45,
  })
  vim.bo[buf].syntax = options.syntax or ""
  local most = math.max(MIN_LINES, vim.o.lines - options.choices - BESIDE - 2)
  api.nvim_win_set_height(win, math.min(height, most))
  if height > most then
    -- A footer needs the border in the same call.
    local footer = (" %d more lines "):format(height - most)
    api.nvim_win_set_config(win, { border = "rounded", footer = footer })
  end
  vim.cmd.redraw()
  previewed = win
  return function()
    close_preview(win)
  end
end

return M
