--- Shows lines in a floating window. Not by messages: a hit-enter prompt would keep Neovim from
--- answering the executable.
local M = {}

---@param lines string[]
---@return integer width in cells, of the widest line that fits
local function width_of(lines)
  local widths = vim.tbl_map(vim.fn.strdisplaywidth, lines)
  return math.max(1, math.min(math.max(20, unpack(widths)) + 1, vim.o.columns - 4))
end

--- As high as its lines are, those that are wrapped too, and in the middle.
---@param win integer
local function fit(win)
  local height = vim.api.nvim_win_text_height(win, {}).all
  height = math.max(1, math.min(height, vim.o.lines - 4))
  local row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1)
  local config = vim.api.nvim_win_get_config(win)
  local place = { relative = "editor", row = row, col = config.col, height = height }
  vim.api.nvim_win_set_config(win, place)
end

--- `q` and <Esc> close it, as does leaving it.
---@param title string
---@param lines string[]
---@return integer buf
function M.open(title, lines)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modifiable = false
  vim.bo[buf].filetype = "claude-code-report"
  local width = width_of(lines)
  local win = vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    width = width,
    height = 1,
    row = 0,
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    style = "minimal",
    border = "rounded",
    title = (" %s "):format(title),
  })
  vim.wo[win].wrap, vim.wo[win].foldenable = true, false
  fit(win)
  for _, key in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", key, "<Cmd>close<CR>", { buffer = buf, nowait = true, desc = "Close" })
  end
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = buf,
    once = true,
    callback = function()
      pcall(vim.api.nvim_win_close, win, true)
    end,
  })
  return buf
end

return M
