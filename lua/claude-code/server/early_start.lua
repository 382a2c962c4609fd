--- The executable while Neovim starts: it loads beside the other plugins, before it is decided whether
--- the server starts. Until it gets its launch line it writes no file and lets nobody in. It saves
--- some 10 ms of the server's start, and stays for that: the CLI looks for its editor only once, so the server
--- has to be ready when Neovim is.
local M = {}

local waiting ---@type claude-code.Process?

--- Starts it if it is there. What is wrong with it shows when the server starts.
function M.begin()
  local binary = not waiting and require("claude-code.install.locate").find()
  local address = binary and require("claude-code.server.endpoint").address()
  if not binary or not address then
    return
  end
  waiting = require("claude-code.server.process").spawn({ path = binary.path, address = address })
  if waiting then
    waiting:prepare(require("claude-code.config").get().port_range)
  end
end

--- Ends it: the server does not start by itself.
function M.discard()
  if waiting then
    waiting:hang_up()
    waiting = nil
  end
end

--- Hands it over, if it is what would be spawned now; spawns one otherwise.
---@param launch claude-code.ServerLaunch
---@return claude-code.Process?
---@return string? message
function M.process(launch)
  local early = waiting
  if early and early:adapt_to(launch.path, launch.address) then
    waiting, early.on_exit = nil, launch.on_exit
    return early
  end
  M.discard()
  return require("claude-code.server.process").spawn(launch)
end

return M
