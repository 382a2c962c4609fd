--- The session of this Neovim that commands work with. There is always one, so none asks which.
local api = vim.api
local rows = require("claude-code.sessions.rows")

local M = {}

---@type table<integer, integer> by number: a higher one was used later
local used = {}
local last_use = 0

---The session is shown, focused or sent to: it is the current one of this tab page from now on.
---@param n integer
function M.use(n)
  if rows.get(n) then
    last_use = last_use + 1
    used[n] = last_use
    vim.t.claude_code_session = n
  end
end

---The session has ended; another one may get its number.
---@param n integer
function M.forget(n)
  used[n] = nil
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    if vim.t[tab].claude_code_session == n then
      vim.t[tab].claude_code_session = nil
    end
  end
end

---@param win integer
---@return integer? n of the session in it
local function number_in(win)
  local row = rows.get({ buf = api.nvim_win_get_buf(win) })
  return row and row.n
end

--- Where the tab page has a folder of its own (|:tcd|), the one that runs there, or nearest above it.
---@return integer? n
local function in_folder()
  local nearest ---@type claude-code.SessionRow?
  local folder = vim.fn.haslocaldir(-1, 0) == 1 and vim.fs.normalize(vim.fn.getcwd(-1, 0))
  for _, row in ipairs(folder and rows.peek() or {}) do
    local is_around = row.n
      and row.cwd
      and require("claude-code.sessions.worktrees").is_below(folder, row.cwd)
    if is_around and (not nearest or #row.cwd > #nearest.cwd) then
      nearest = row
    end
  end
  return nearest and nearest.n
end

---@return integer? n
local function last_used()
  local last
  for _, row in ipairs(rows.peek()) do
    if row.n and (not last or (used[row.n] or 0) > (used[last] or 0)) then
      last = row.n
    end
  end
  return last
end

---The one with the cursor, else the one of this tab page, else one that it shows, else one in its own
---folder, else the one used last.
---@return integer? n nil if no session of this Neovim runs
function M.get()
  return number_in(0)
    or vim.t.claude_code_session
    or vim.iter(api.nvim_tabpage_list_wins(0)):map(number_in):next()
    or in_folder()
    or last_used()
end

return M
