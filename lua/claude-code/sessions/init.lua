--- The Claude sessions of this Neovim and of its workspace: see sessions/rows.lua for what each row
--- holds, sessions/sources.lua for who reports.
local rows = require("claude-code.sessions.rows")
local sources = require("claude-code.sessions.sources")

local M = {
  set = rows.set,
  remove = rows.remove,
  get = rows.get,
  list = rows.list,
  report = rows.report,
  see = rows.see,
  use = rows.use,
  current = rows.current,
  clients = sources.clients,
  prompted = sources.prompted,
  hook = sources.hook,
  hook_ended = sources.hook_ended,
}

---Adds a session that is about to start in this Neovim. Its terminal, `buf`, may be set before its
---program begins: whether the terminal knows the protocol is the CLI's first question.
---@param fields table of claude-code.SessionRow; `n`: a number to keep if it is free
---@return integer n
function M.add(fields)
  sources.start()
  return rows.add(fields)
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
