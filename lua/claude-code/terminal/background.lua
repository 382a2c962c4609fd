--- Starts a session in the background (`claude --bg`): the CLI hands it to its daemon, prints its id, and
--- ends. It needs no terminal for that.
local notify = require("claude-code.messages.notify")

local M = {}

--- The first start waits for the daemon: 1 s as measured with 2.1.330.
local TIMEOUT_MS = 30000

---@param name? string
---@param result vim.SystemCompleted
local function report(name, result)
  local who = name and ("Claude (%s)"):format(name) or "Claude"
  if result.code == 0 then
    -- Its file is found, also if no session has run here before.
    require("claude-code.sessions").all()
    notify.info(who .. " works in the background; :Claude sessions shows it")
  else
    local line = require("claude-code.sessions.one_line")
    local reason = line(result.stderr, 300) or line(result.stdout, 300)
    local text = "%s was not started in the background: %s"
    notify.error(text:format(who, reason or "it ended with code " .. result.code))
  end
end

---@param command string[]
---@param options { name?: string, env: table<string, string>, folder: string }
function M.start(command, options)
  local process = { env = options.env, cwd = options.folder, text = true, timeout = TIMEOUT_MS }
  local done = vim.schedule_wrap(function(result)
    report(options.name, result)
  end)
  local ok, message = pcall(vim.system, command, process, done)
  if not ok then
    notify.error(("%s cannot be started: %s; see terminal.command"):format(command[1], message))
  end
end

return M
