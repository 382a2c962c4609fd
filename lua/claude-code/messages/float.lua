--- Shows lines in a floating window. Not by messages: a hit-enter prompt would keep Neovim from
--- answering the executable.
local M = {}

---@param lines string[]
---@return integer width in cells, of the widest line that fits
local function width_of(lines)
  local widths = vim.tbl_map(vim.fn.strdisplaywidth, lines)
  return math.max(1, math.min(math.max(20, unpack(widths)) + 1, vim.o.columns - 4))
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
  local height = math.max(1, math.min(#lines, vim.o.lines - 4))
  local win = vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height) / 2) - 1),
    col = math.max(0, math.floor((vim.o.columns - width) / 2)),
    style = "minimal",
    border = "rounded",
    title = (" %s "):format(title),
  })
  vim.wo[win].wrap = true
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
