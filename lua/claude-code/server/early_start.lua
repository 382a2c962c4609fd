--- The executable while Neovim starts: it loads beside the other plugins, before it is decided whether
--- the server starts. Until it gets its launch line it writes no file and lets nobody in. It saves
--- some 10 ms of the server's start, and stays for that: the CLI looks for its editor only once, so the server
--- has to be ready when Neovim is.
local M = {}

---@type { process?: claude-code.Process, on_exit?: fun(code: integer, signal: integer) }?
local waiting

--- Starts it if it is there. What is wrong with it shows when the server starts.
function M.begin()
  local binary = not waiting and require("claude-code.install.locate").find()
  local address = binary and require("claude-code.server.endpoint").address()
  if not binary or not address then
    return
  end
  local early = {}
  early.process = require("claude-code.server.process").spawn({
    path = binary.path,
    args = { "serve" },
    address = address,
    on_exit = function(code, signal)
      if early.on_exit then
        early.on_exit(code, signal)
      end
    end,
  })
  waiting = early.process and early
  if waiting then
    early.process:prepare(require("claude-code.config").get().port_range)
  end
end

--- Ends it: the server does not start by itself.
function M.discard()
  if waiting then
    waiting.process:hang_up()
    waiting = nil
  end
end

--- Hands it over, if it is what would be spawned now; spawns one otherwise.
---@param launch claude-code.ServerLaunch
---@return claude-code.Process?
---@return string? message
function M.process(launch)
  local early = waiting
  if early and early.process:adapt_to(launch.path, launch.address) then
    waiting, early.on_exit = nil, launch.on_exit
    return early.process
  end
  M.discard()
  return require("claude-code.server.process").spawn(launch)
end

return M
