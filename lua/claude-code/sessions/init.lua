--- The Claude sessions of this Neovim and its workspace.
local api = vim.api
local rows = require("claude-code.sessions.rows")
local sources = require("claude-code.sessions.sources")

local M = {
  set = rows.set,
  get = rows.get,
  list = rows.list,
  report = rows.report,
  clients = sources.clients,
}

local used = {} ---@type table<integer, integer> time of the last use, by number

---Makes a session that was shown, focused or sent to the current session of this tab page.
function M.use(n)
  if rows.get(n) then
    used[n] = vim.uv.hrtime()
    vim.t.claude_code_session = n
  end
end

--- Another session may get the number.
local function forget(n)
  used[n] = nil
  for _, tab in ipairs(api.nvim_list_tabpages()) do
    if vim.t[tab].claude_code_session == n then
      vim.t[tab].claude_code_session = nil
    end
  end
end

local function number_in(win)
  local row = rows.get({ buf = api.nvim_win_get_buf(win) })
  return row and row.n
end

--- The session in the tab page's own folder (|:tcd|), or nearest above it.
local function in_folder()
  local nearest ---@type claude-code.SessionRow?
  local folder = vim.fn.haslocaldir(-1, 0) == 1 and vim.fs.normalize(vim.fn.getcwd(-1, 0))
  for _, row in ipairs(folder and rows.list() or {}) do
    local is_around = row.n and row.cwd and sources.is_below(folder, row.cwd)
    if is_around and (not nearest or #row.cwd > #nearest.cwd) then
      nearest = row
    end
  end
  return nearest and nearest.n
end

local function last_used()
  local last
  for _, row in ipairs(rows.list()) do
    if row.n and (not last or (used[row.n] or 0) > (used[last] or 0)) then
      last = row.n
    end
  end
  return last
end

---The session with the cursor; else the tab page's, one that it shows, or one in its folder; else the last used one.
---@return integer? n nil if no session of this Neovim runs
function M.current()
  return number_in(0)
    or vim.t.claude_code_session
    or vim.iter(api.nvim_tabpage_list_wins(0)):map(number_in):next()
    or in_folder()
    or last_used()
end

---Adds a session that is about to start in this Neovim, and makes it the current one. Set its terminal, `buf`, before
---its program runs: the CLI first asks whether the terminal knows the protocol.
---@param fields table of claude-code.SessionRow; the session gets its `n` if that is free
---@return integer n
function M.add(fields)
  sources.start()
  require("claude-code.sessions.osc").follow()
  require("claude-code.sessions.leaving").watch()
  local n = rows.add(fields)
  M.use(n)
  return n
end

---Removes a session after its terminal's end. A background session stays.
---@param key integer|claude-code.SessionKey
function M.remove(key)
  local row = rows.get(key)
  if row and row.n then
    forget(row.n)
  end
  if row and row.job and row.pid then
    local attached = row.connected or false
    rows.set(key, { n = vim.NIL, buf = vim.NIL, attached = attached, source = vim.NIL })
    sources.apply(row.pid)
  else
    rows.remove(key)
  end
end

---Lets the executable read the files of all CLIs again; starts it if the user has not stopped it.
---@param callback fun() in the main loop
function M.refresh(callback)
  local server = require("claude-code.server")
  local function look()
    sources.refresh(callback)
  end
  server.ensure()
  if server.state == "downloading" then
    return look()
  end
  server.ensure({}, look)
end

---@return claude-code.SessionRow[] the sessions of this Neovim first, by number
function M.all()
  sources.start()
  sources.prune()
  return rows.list()
end

return M
