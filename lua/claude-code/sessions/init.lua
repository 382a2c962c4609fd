--- The Claude sessions of this Neovim and of its workspace: see sessions/rows.lua for what each row
--- holds, sessions/sources.lua for who reports.
local current = require("claude-code.sessions.current")
local rows = require("claude-code.sessions.rows")
local sources = require("claude-code.sessions.sources")

local M = {
  set = rows.set,
  get = rows.get,
  list = rows.list,
  report = rows.report,
  see = rows.see,
  use = current.use,
  current = current.get,
  clients = sources.clients,
  own = sources.own,
}

---Adds a session that is about to start in this Neovim; it is the current one. Its terminal, `buf`,
---has to be set before its program runs: whether it knows the protocol is the CLI's first question.
---@param fields table of claude-code.SessionRow; `n`: a number to keep if it is free
---@return integer n
function M.add(fields)
  sources.start()
  local n = rows.add(fields)
  current.use(n)
  return n
end

---Removes a session whose terminal has ended. One in the background goes on without.
---@param key integer|claude-code.SessionKey a number stands for { n = … }
function M.remove(key)
  local row = rows.get(key)
  if row and row.n then
    current.forget(row.n)
  end
  if row and row.job and row.pid then
    local attached = row.connected or false
    rows.set(key, { n = vim.NIL, buf = vim.NIL, attached = attached, source = vim.NIL })
    sources.read(row.pid)
  else
    rows.remove(key)
  end
end

---Reads what all CLIs say of themselves, also in a Neovim that has just started.
---@param callback fun() in the main loop
function M.refresh(callback)
  sources.start()
  sources.refresh(callback)
end

---The sessions as they are now, as data. What other CLIs say of themselves is read again for the next
---call; what changes comes as an event.
---@return claude-code.SessionRow[] those of this Neovim first, by number
function M.all()
  if not sources.start() then
    sources.refresh()
  end
  sources.prune()
  return rows.list()
end

return M
