--- Shows what Claude asks, above the list from which the user chooses the answer.
local api = vim.api

local M = {}

--- Screen lines that the list below gets beside one for each choice: its prompt and the command line.
local BESIDE = 4
local LEAST_LINES = 3

--- In bytes. Of a line that it wraps Neovim goes through all of it each time: of 200,000 for 60 to 300 ms.
local LONGEST_LINE = 1000

---@param lines string[]
---@return integer
local function width_of(lines)
  local widest = 20
  for _, line in ipairs(lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  return math.max(1, math.min(widest + 1, vim.o.columns - 2))
end

--- The one that is open: a picker may have been left without a word.
---@type integer?
local shown

local function close()
  if shown then
    pcall(api.nvim_win_close, shown, true)
    shown = nil
  end
end

--- A long line as several, which look as it does where it is wrapped.
---@param lines string[]
---@return string[]
function M.in_rows(lines)
  local rows, most = {}, math.max(10, vim.o.columns - 3)
  for _, line in ipairs(lines) do
    local first = 1
    while #line - first >= LONGEST_LINE do
      local next = first + most
      -- Whole characters.
      next = next + vim.str_utf_start(line, next)
      rows[#rows + 1] = line:sub(first, next - 1)
      first = next
    end
    rows[#rows + 1] = line:sub(first)
  end
  return rows
end

---@param title string
---@param lines string[]
---@param options { syntax?: string, choices: integer }
---@return fun() close
function M.open(title, lines, options)
  close()
  local buf = api.nvim_create_buf(false, true)
  api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modifiable = false
  local win = api.nvim_open_win(buf, false, {
    relative = "editor",
    row = 0,
    col = 0,
    width = width_of(lines),
    height = 1,
    style = "minimal",
    border = "rounded",
    focusable = false,
    zindex = 45,
    title = (" %s "):format(title),
  })
  vim.wo[win].wrap, vim.wo[win].foldenable = true, false
  vim.bo[buf].syntax = options.syntax or ""
  local most = math.max(LEAST_LINES, vim.o.lines - options.choices - BESIDE - 2)
  local height = api.nvim_win_text_height(win, {}).all
  api.nvim_win_set_height(win, math.min(height, most))
  if height > most then
    -- Its border has to be given with it.
    local footer = (" %d more lines "):format(height - most)
    api.nvim_win_set_config(win, { border = "rounded", footer = footer })
  end
  vim.cmd.redraw()
  shown = win
  return function()
    if shown == win then
      close()
    end
  end
end

return M
