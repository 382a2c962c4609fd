--- A row for each Claude session that this Neovim knows. Sessions in its own terminals have a number. Callers get
--- copies.
local events = require("claude-code.lib.events")
local programs = require("claude-code.programs")

local M = {}

---@alias claude-code.SessionState "idle"|"working"|"blocked"|"done"|"error"
---@alias claude-code.BlockedKind "permission"|"question"|"auth"
---@alias claude-code.StateSource "terminal"|"registry"|"hook"

---@class claude-code.StateReport
---@field state? claude-code.SessionState nil if the source no longer reports one
---@field kind? claude-code.BlockedKind
---@field msg? string

---@class claude-code.SessionRow
---@field n? integer number of a session of this Neovim
---@field id? string the conversation's; /clear and /resume change it
---@field name? string from the CLI
---@field cwd? string absolute
---@field worktree? string name of the git worktree
---@field branch? string
---@field remote? string name in the option `remotes`
---@field where string "here", "background", "outside", "neovim", or a word of its terminal's provider
---@field job? string id of a background session for `claude attach`
---@field pid? integer the CLI's, or the terminal's until the CLI's is known
---@field buf? integer its terminal
---@field attached boolean it started here, is connected, or its hooks report here
---@field connected? true to the server
---@field state? claude-code.SessionState
---@field kind? claude-code.BlockedKind
---@field msg? string one line about its action or question
---@field edits? true it waits for the user, who edits a file for it in this Neovim
---@field context? integer fullness of the model's context in percent
---@field tokens? integer in the context
---@field mod? true our mod runs in its CLI
---@field hooks_off? string why its CLI runs no hooks, if that was known before it started
---@field no_mod? string why its CLI loads none, if that was known before it started
---@field usage? { percent?: integer, tokens?: integer, window?: integer, cost?: number } in dollars; from the mod
---@field tasks? { done: integer, all: integer, doing?: string } its task list
---@field since integer start of the state, in ms since 1970
---@field seen boolean the user has looked at it since
---@field source? claude-code.StateSource of the state

---@class claude-code.SessionKey one field is enough
---@field n? integer
---@field pid? integer the CLI's
---@field id? string
---@field buf? integer
---@field job? string

---@class claude-code.SessionEntry
---@field row claude-code.SessionRow
---@field has_cli? boolean the CLI itself has reported its process

--- A source cannot overrule a source of a higher rank. The terminal and the CLI's file report every change, but hooks
--- do not report an Esc.
---@type table<claude-code.StateSource, integer>
local RANK = { hook = 1, registry = 2, terminal = 3 }

local entries = {} ---@type claude-code.SessionEntry[] those with a number first, by number
--- Processes of CLIs that are about to exit. They still update their files, but are no longer sessions.
local ended = {} ---@type table<integer, true>

local function copy(entry)
  return vim.deepcopy(entry.row)
end

local function entry_with(field, value)
  for _, entry in ipairs(value ~= nil and entries or {}) do
    if entry.row[field] == value then
      return entry
    end
  end
end

---@return integer the lowest free number
local function free_number()
  local n = 1
  while entry_with("n", n) do
    n = n + 1
  end
  return n
end

--- Does the row belong to another running CLI?
local function has_other_cli(entry, pid)
  return entry.has_cli == true and entry.row.pid ~= pid and programs.is_alive(entry.row.pid)
end

--- Number and id are weak keys for a process: CLIs that a CLI starts, and later ones in the same terminal, inherit its
--- number. A background job may have several processes, one after another.
local function find(key)
  key = type(key) == "table" and key or { n = key }
  for _, field in ipairs({ "n", "buf", "pid", "job", "id" }) do
    local entry = entry_with(field, key[field])
    local is_weak = (field == "n" or field == "id") and key.pid ~= nil
    if entry and not (is_weak and (ended[key.pid] or has_other_cli(entry, key.pid))) then
      return entry
    end
  end
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

local function update(entry, change)
  local before = copy(entry)
  change(entry.row)
  if vim.deep_equal(before, entry.row) then
    return
  end
  local row = copy(entry)
  local data =
    { session = row, from = before.state, to = row.state, kind = row.kind, msg = row.msg }
  events.emit("SessionChanged", data)
end

local function set_fields(row, fields)
  for name, value in pairs(fields) do
    if value == vim.NIL then
      value = nil
    end
    row[name] = value
  end
end

local function now()
  local seconds, microseconds = vim.uv.gettimeofday()
  return seconds * 1000 + math.floor(microseconds / 1000)
end

local function insert(fields)
  local defaults = { since = now(), seen = true, attached = fields.n ~= nil }
  local entry = { row = vim.tbl_extend("force", defaults, fields) }
  table.insert(entries, entry)
  sort()
  return entry
end

local function remove(entry)
  if entry.row.n and entry.row.pid then
    ended[entry.row.pid] = true
  end
  entries = vim.tbl_filter(function(other)
    return other ~= entry
  end, entries)
  events.emit("SessionEnded", { session = copy(entry) })
end

--- Each process has one row.
local function remove_other(entry, pid)
  local other = entry_with("pid", pid)
  if other and other ~= entry then
    remove(other)
  end
end

---Adds a session that is about to start in this Neovim. A background session keeps its row.
---@param fields table of claude-code.SessionRow; the session gets its `n` if that is free
---@return integer n
function M.add(fields)
  local n = fields.n and not entry_with("n", fields.n) and fields.n or free_number()
  local known = entry_with("job", fields.job)
  if known and not known.row.n then
    M.set({ job = fields.job }, { n = n, attached = true })
    return n
  end
  local entry = insert(vim.tbl_extend("force", { where = "here" }, fields, { n = n }))
  events.emit("SessionStarted", { session = copy(entry) })
  return n
end

---Adds a session that runs elsewhere, unless it has a row.
---@param key claude-code.SessionKey
---@param fields table of claude-code.SessionRow
function M.add_elsewhere(key, fields)
  if not find(key) and not ended[key.pid or 0] then
    local entry = insert(vim.tbl_extend("force", { where = "outside" }, fields))
    entry.row.pid, entry.row.id, entry.row.job = key.pid, key.id, key.job
    entry.has_cli = key.pid ~= nil
    events.emit("SessionStarted", { session = copy(entry) })
  end
end

---@param key integer|claude-code.SessionKey a number is short for { n = … }
---@param fields table of claude-code.SessionRow; vim.NIL removes a field; `pid` is the terminal's
function M.set(key, fields)
  local entry = find(key)
  if entry then
    -- The process may already have a row when this Neovim takes over its terminal.
    remove_other(entry, fields.pid)
    entry.has_cli = entry.has_cli and fields.pid == nil
    update(entry, function(row)
      set_fields(row, fields)
      sort()
    end)
  end
end

---@param key integer|claude-code.SessionKey
function M.remove(key)
  local entry = find(key)
  if entry then
    remove(entry)
  end
end

---@param key integer|claude-code.SessionKey
---@return claude-code.SessionRow?
function M.get(key)
  local entry = find(key)
  return entry and copy(entry)
end

---@return claude-code.SessionRow[] the sessions of this Neovim first, by number
function M.list()
  return vim.tbl_map(copy, entries)
end

function M.attached()
  return vim.tbl_filter(function(row)
    return row.attached
  end, M.list())
end

---@alias claude-code.Activity "working"|"idle"

---@return claude-code.Activity? "working" if any attached session is in a turn; nil if no state is known
function M.activity()
  local activity
  for _, row in ipairs(M.attached()) do
    -- A killed CLI runs no hook.
    local is_gone = row.source == "hook" and row.pid and not programs.is_alive(row.pid)
    if row.state and not is_gone and activity ~= "working" then
      local is_working = row.state == "working" or row.state == "blocked"
      activity = is_working and "working" or "idle"
    end
  end
  return activity
end

local function apply(row, source, report)
  if row.source and RANK[source] < RANK[row.source] then
    return
  end
  -- Neovim cannot know when the user has seen a session elsewhere.
  local state = report.state == "done" and not row.buf and "idle" or report.state
  if row.state ~= state or row.kind ~= report.kind then
    row.since, row.seen = now(), false
  end
  row.source = state and source or nil
  row.state, row.kind, row.msg = state, report.kind, report.msg
end

---@param key integer|claude-code.SessionKey
---@param source claude-code.StateSource
---@param report? claude-code.StateReport nil if the source does not know the state
---@param fields? table of claude-code.SessionRow, to set as well
---@return boolean found
function M.report(key, source, report, fields)
  key = type(key) == "table" and key or { n = key }
  local entry = find(key)
  if not entry then
    return false
  end
  update(entry, function(row)
    if key.pid then
      -- The number and the process may have had separate rows.
      remove_other(entry, key.pid)
      entry.row.pid, entry.has_cli = key.pid, true
    end
    row.id, row.job = key.id or row.id, key.job or row.job
    set_fields(row, fields or {})
    if report then
      apply(row, source, report)
    end
  end)
  return true
end

return M
