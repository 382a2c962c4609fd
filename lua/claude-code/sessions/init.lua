--- The Claude sessions that this Neovim knows, one row each: those in its own terminals, which have
--- a number, and those that run elsewhere. Rows are plain data; callers get copies.
local events = require("claude-code.events")
local state = require("claude-code.sessions.state")

local M = {}

---@class claude-code.SessionRow
---@field n? integer number of a session of this Neovim, stable until it is removed
---@field id? string of the conversation; /clear and /resume change it
---@field name? string as the CLI calls it
---@field cwd? string absolute
---@field worktree? string name of the git worktree
---@field branch? string
---@field where "here"|"tmux"|"background"|"outside"|"neovim"
---@field pid? integer the CLI's, or, until that is known, the terminal's
---@field buf? integer of its terminal
---@field state? claude-code.SessionState nil: not known
---@field kind? claude-code.BlockedKind
---@field msg? string one line: what it does, or what it asks
---@field since integer ms since 1970, when the state began
---@field seen boolean whether the user has looked at it since
---@field source? claude-code.StateSource of the state

---@class claude-code.SessionKey by which a report names its session; one of them is enough
---@field n? integer
---@field pid? integer
---@field id? string
---@field buf? integer

---@class claude-code.SessionEntry
---@field row claude-code.SessionRow
---@field used integer a higher one was used later
---@field has_cli? boolean whether the CLI itself has named its process

---@type claude-code.SessionEntry[] those with a number first, in its order
local entries = {}
local last_use = 0

---@param entry claude-code.SessionEntry
---@return claude-code.SessionRow
local function copy(entry)
  return vim.deepcopy(entry.row)
end

---@return integer the lowest number that is free
local function free_number()
  local n = 1
  while M.get(n) do
    n = n + 1
  end
  return n
end

---@param field string
---@param value any
---@return claude-code.SessionEntry?
local function entry_with(field, value)
  return value
    and vim.iter(entries):find(function(entry)
      return entry.row[field] == value
    end)
end

--- By its process, else by its id. The number is what a CLI has inherited from the terminal, as does
--- every CLI that it starts: it counts until the first one has named its process.
---@param key claude-code.SessionKey
---@return claude-code.SessionEntry?
local function find(key)
  local found = entry_with("buf", key.buf) or entry_with("pid", key.pid) or entry_with("id", key.id)
  if found then
    return found
  end
  local numbered = entry_with("n", key.n)
  return numbered and not (key.pid and numbered.has_cli) and numbered or nil
end

local function sort()
  table.sort(entries, function(a, b)
    local first, second = a.row.n or math.huge, b.row.n or math.huge
    if first == second then
      return (a.row.pid or 0) < (b.row.pid or 0)
    end
    return first < second
  end)
end

---@param entry claude-code.SessionEntry
---@param from? claude-code.SessionState
local function emit_changed(entry, from)
  local row = copy(entry)
  local data = { session = row, from = from, to = row.state, kind = row.kind, msg = row.msg }
  events.emit("SessionChanged", data)
end

---@param entry claude-code.SessionEntry
---@param change fun(row: claude-code.SessionRow)
local function update(entry, change)
  local before = copy(entry)
  change(entry.row)
  if not vim.deep_equal(before, entry.row) then
    emit_changed(entry, before.state)
  end
end

---@param fields table
---@return claude-code.SessionEntry
local function insert(fields)
  local row = vim.tbl_extend("force", { since = state.now(), seen = true }, fields)
  local entry = { row = row, used = 0 }
  table.insert(entries, entry)
  sort()
  return entry
end

---Adds a session that is about to start in this Neovim. `n` may name a number, as of one that is
---adopted; it is kept if it is free.
---@param fields table of claude-code.SessionRow
---@return integer n
function M.add(fields)
  local n = fields.n and not M.get(fields.n) and fields.n or free_number()
  local entry = insert(vim.tbl_extend("force", { where = "here" }, fields, { n = n }))
  M.use(n)
  events.emit("SessionStarted", { session = copy(entry) })
  return n
end

---Changes what is known of a session. `vim.NIL` removes a field.
---@param n integer
---@param fields table of claude-code.SessionRow
function M.set(n, fields)
  local entry = entry_with("n", n)
  if not entry then
    return
  end
  update(entry, function(row)
    for name, value in pairs(fields) do
      if value == vim.NIL then
        value = nil
      end
      row[name] = value
    end
  end)
end

---Removes a session that has ended.
---@param n integer
function M.remove(n)
  local entry = entry_with("n", n)
  if not entry then
    return
  end
  entries = vim.tbl_filter(function(other)
    return other ~= entry
  end, entries)
  -- Another session may get its number.
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    if vim.t[tab].claude_code_session == n then
      vim.t[tab].claude_code_session = nil
    end
  end
  events.emit("SessionEnded", { session = copy(entry) })
end

---@param n integer
---@return claude-code.SessionRow?
function M.get(n)
  local entry = entry_with("n", n)
  return entry and copy(entry)
end

---@return claude-code.SessionRow[] those of this Neovim first, by number
function M.list()
  return vim.tbl_map(copy, entries)
end

---A source reports a state. It is dropped where no session has this key, and where a source that
---knows better has reported on it.
---@param key claude-code.SessionKey|integer a number stands for { n = … }
---@param source claude-code.StateSource
---@param report claude-code.StateReport
---@return boolean known whether there is such a session
function M.report(key, source, report)
  if type(key) == "number" then
    key = { n = key }
  end
  local entry = find(key)
  if not entry then
    return false
  end
  update(entry, function(row)
    if key.pid then
      row.pid, entry.has_cli = key.pid, true
    end
    row.id = key.id or row.id
    state.apply(row, source, report)
  end)
  return true
end

---The session is shown, focused or sent to: it is the current one of this tab page from now on.
---@param n integer
function M.use(n)
  local entry = entry_with("n", n)
  if entry then
    last_use = last_use + 1
    entry.used = last_use
    vim.t.claude_code_session = n
  end
end

---@return claude-code.SessionEntry? whose terminal this tab page shows
local function shown()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local entry = entry_with("buf", vim.api.nvim_win_get_buf(win))
    if entry then
      return entry
    end
  end
end

---@return claude-code.SessionEntry?
local function last_used()
  local last
  for _, entry in ipairs(entries) do
    if entry.row.n and (not last or entry.used > last.used) then
      last = entry
    end
  end
  return last
end

---The session that commands work with: the one with the cursor, else the one of this tab page, else
---one that it shows, else the one used last.
---@return integer? n nil if no session runs in this Neovim
function M.current()
  local entry = entry_with("buf", vim.api.nvim_get_current_buf())
    or entry_with("n", vim.t.claude_code_session)
    or shown()
    or last_used()
  return entry and entry.row.n
end

return M
