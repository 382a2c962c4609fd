--- Sessions that another Neovim has left: their CLIs look for a server, and may not find it.
local M = {}

--- Longer than a CLI tries to find its Neovim again, which is 17 s (measured with 2.1.330).
local RETRY_MS = 20000

---@param n integer
local function report_unconnected(n)
  local row = require("claude-code.sessions").get(n)
  if row and not row.connected then
    local text = "%s runs on in its tmux pane, without a connection to this Neovim; "
      .. "type /ide there and choose Neovim"
    local name = require("claude-code.terminal.label").of(n)
    require("claude-code.messages.notify").info(text:format(name))
  end
end

--- Starts the server that their CLIs look for, and reports those that do not find it.
---@param adopted claude-code.AdoptedTerminal[]
function M.connect(adopted)
  local server = require("claude-code.server")
  server.ensure({}, function()
    for _, found in ipairs(adopted) do
      local delay = found.port == server.port and RETRY_MS or 0
      require("claude-code.timer").once(delay, function()
        report_unconnected(found.terminal.n)
      end)
    end
  end)
end

return M
